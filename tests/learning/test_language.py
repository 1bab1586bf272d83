"""Language models: GPT-2 as transformers has it, texts as tokens, trained as any network is."""

import os
import sys

import numpy as np
import pytest
import torch

from colabel.cotrain.learners import Examples
from colabel.data import Site, Sites
from colabel.errors import InputError
from colabel.federation.training import State
from colabel.federation.training_plan import Stage, TrainingPlan
from colabel.jobs.cotrain import cotrain_sites, plan_for
from colabel.jobs.train import initial, train_sites
from colabel.learning.cotraining import NetworkLearner
from colabel.learning.flops import of_one_point
from colabel.learning.language import pretrained, tokeniser, tokens
from colabel.learning.models import MODELS, ModelPlan, make
from colabel.learning.models.language import gpt2, gpt2_tiny
from colabel.learning.parameters import read
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.learning.pseudo_labels import embed, predict

transformers = pytest.importorskip("transformers", reason="the extra 'text' is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="the extra 'text' is not installed")

LENGTH = 20
PLAN = ModelPlan(name="gpt2_tiny", shape=(LENGTH,), n_classes=2)
LOCAL = LocalPlan(steps=3, labelled_batch=4, optimiser=OptimiserPlan(name="adam", rate=0.003))
TEXTS = ["a good film", "bad", "", "what a long review this is, it never ends", "über! 好"]


@pytest.fixture(autouse=True)
def _by_name(monkeypatch):
    monkeypatch.setitem(MODELS, "gpt2", gpt2)
    monkeypatch.setitem(MODELS, "gpt2_tiny", gpt2_tiny)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a downloaded model looks like: bytes as tokens, and a classifier's weights."""
    place = tmp_path_factory.mktemp("gpt2")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {sign: number for number, sign in enumerate(alphabet)}
    bytes_only = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    bytes_only.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.enable_padding(length=50)  # as some files have it
    bytes_only.save(str(place / "tokenizer.json"))
    theirs().save_pretrained(place)
    return place


def theirs(n_classes=2):
    config = transformers.GPT2Config(
        vocab_size=257, n_embd=32, n_layer=2, n_head=2, bos_token_id=256, eos_token_id=256,
        pad_token_id=256, num_labels=n_classes,
    )  # fmt: skip
    torch.manual_seed(5)
    return transformers.GPT2ForSequenceClassification(config).eval()


def draw(n, seed=0):
    """Films are good or bad, and the word for it is anywhere."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    texts = [f"{'x' * rng.integers(1, 6)} {('bad', 'good')[c]} film" for c in labels]
    return texts, labels


def test_texts_become_rows_of_one_length(folder):
    points = tokens(TEXTS, tokeniser(folder), LENGTH)
    assert points.shape == (5, LENGTH)
    assert points.dtype == np.int64
    lengths = [min(len(text.encode()), LENGTH) for text in TEXTS]
    np.testing.assert_array_equal((points >= 0).sum(axis=1), lengths)
    for row, length in zip(points, lengths, strict=True):
        assert (row[length:] == -1).all()
    np.testing.assert_array_equal(points[1, :3], tokens(["bad again"], tokeniser(folder), 3)[0])


def test_logits_are_those_of_transformers_with_the_same_weights(folder):
    model, network = theirs(), make(PLAN).eval()
    state = {f"features.model.{k}": v for k, v in model.transformer.state_dict().items()}
    network.load_state_dict({**state, "head.weight": model.score.weight})
    points = torch.from_numpy(tokens([*TEXTS[:2], *TEXTS[3:]], tokeniser(folder), LENGTH))
    ids = points.clone()
    ids[points < 0] = 256
    with torch.no_grad():
        expected = model(input_ids=ids, attention_mask=(points >= 0).long()).logits
        torch.testing.assert_close(network(points.float()), expected, atol=1e-5, rtol=1e-5)
    assert embed(network, points, PLAN).shape == (4, 32)


def test_padding_and_company_change_nothing(folder):
    points = torch.from_numpy(tokens(TEXTS * 8, tokeniser(folder), LENGTH))  # more than one batch
    network = make(PLAN)
    together = predict(network, points, PLAN)
    alone = torch.cat([predict(network, row[None], PLAN) for row in points])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)
    wider = torch.cat([points, torch.full((len(points), 9), -1)], dim=1)
    torch.testing.assert_close(predict(network, wider, PLAN), together, atol=1e-5, rtol=1e-5)
    assert together.isfinite().all()
    assert predict(network, points[:0], PLAN).shape == (0, 2)
    assert (together[0] != together[1]).all()


def test_pretrained_weights_of_a_folder(folder):
    model = theirs()
    found = pretrained(folder, PLAN)
    assert found.keys() == read(make(PLAN)).keys()
    for name, held in model.transformer.state_dict().items():
        np.testing.assert_array_equal(found[f"features.model.{name}"], held.numpy())
    np.testing.assert_array_equal(found["head.weight"], model.score.weight.detach().numpy())
    three = ModelPlan(name="gpt2_tiny", shape=(LENGTH,), n_classes=3)
    drawn = pretrained(folder, three, seed=7)["head.weight"]  # theirs is for two classes
    np.testing.assert_array_equal(drawn, read(make(three, 7))["head.weight"])
    bare = ModelPlan(name="gpt2_tiny", shape=(LENGTH,), n_classes=2, head=False)
    assert "head.weight" not in pretrained(folder, bare)


def test_files_of_a_model_without_a_classifier(folder, tmp_path):
    """The hub's own file of GPT-2 holds the model alone, without a prefix."""
    theirs().transformer.save_pretrained(tmp_path)
    one, two = pretrained(tmp_path, PLAN), pretrained(folder, PLAN)
    name = "features.model.h.1.mlp.c_fc.weight"
    np.testing.assert_array_equal(one[name], two[name])


def examples(folder, n=24, seed=0):
    texts, labels = draw(n, seed)
    return Examples(tokens(texts, tokeniser(folder), LENGTH), labels)


def federation(folder, n_sites=3, n_each=12):
    parts = [examples(folder, n_each, seed) for seed in range(n_sites)]
    sites = [Site(f"site-{k}", part.points, part.labels) for k, part in enumerate(parts)]
    return Sites(tuple(sites), ("bad", "good"))


def test_a_turn_of_co_training_changes_every_weight(folder):
    sites = federation(folder)
    public = examples(folder, 30, 9).points
    held = {name: NetworkLearner(PLAN, LOCAL, 0, name) for name in sites.names}
    for learner in held.values():
        learner.load(pretrained(folder, PLAN))
    before = held["site-0"].save()
    outcome = cotrain_sites(sites, public, held, plan_for(public, 2, rounds=1, votes="clear"))
    assert outcome.result.consensus.shape == (30,)
    after = held["site-0"].save()
    assert all((after[name] != array).any() for name, array in before.items())


def test_it_learns(folder):
    held, new = NetworkLearner(PLAN, LOCAL, 0, "a", first_steps=100), examples(folder, 200, 3)
    own = examples(folder, 60)
    held.learn(own, Examples.nothing(own.points), 0)
    assert (held.predict(new.points) == new.labels).mean() > 0.9


@pytest.mark.parametrize("protection", ["none", "masked"])
def test_a_round_of_fedavg(folder, protection):
    plan = TrainingPlan(
        model=PLAN, stages=(Stage(rounds=1),), local=LOCAL, sites_per_round=3, protection=protection
    )
    begin = State(pretrained(folder, PLAN))
    found = train_sites(federation(folder), plan, state=begin).model
    assert all(np.isfinite(array).all() for array in found.values())
    assert all((found[name] != array).any() for name, array in begin.model.items())
    assert initial(plan).model.keys() == found.keys()


def test_the_large_one_has_the_parameters_of_table_17():
    with torch.device("meta"):
        network = make(ModelPlan(name="gpt2", shape=(128,), n_classes=2))
    own = [held for name, held in network.named_parameters() if "cost" not in name]
    table = 38_597_376 + 786_432 + 12 * 7_087_872 + 1_536 + 1_536
    assert sum(held.numel() for held in own) == table == 124_441_344


def test_what_it_computes_is_counted_without_computing_it():
    """Two operations a weight and token, and attention; so that it gets all threads."""
    found = of_one_point(ModelPlan(name="gpt2", shape=(128,), n_classes=2)).products
    weights = 12 * (768 * 3 * 768 + 768 * 768 + 2 * 768 * 4 * 768)
    assert found == 2 * 128 * (weights + 2 * 128 * 768 * 12) + 2 * 768 * 2


def test_the_same_seed_the_same_weights():
    first, again, other = (read(make(PLAN, seed)) for seed in (1, 1, 2))
    assert all((first[name] == array).all() for name, array in again.items())
    assert any((first[name] != array).any() for name, array in other.items())


def test_nothing_is_downloaded_unless_told_so(folder, monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    asked = []

    def download(where, name, *, local_files_only):
        asked.append((where, name, local_files_only))
        return str(folder / name)

    monkeypatch.setattr(hub, "hf_hub_download", download)
    monkeypatch.delenv("HF_HUB_DISABLE_TELEMETRY", raising=False)
    pretrained("openai-community/gpt2", PLAN)
    tokeniser("openai-community/gpt2", local_files_only=False)
    assert asked == [
        ("openai-community/gpt2", "model.safetensors", True),
        ("openai-community/gpt2", "tokenizer.json", False),
    ]
    assert os.environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
    assert hub.constants.HF_HUB_DISABLE_TELEMETRY


def test_what_is_not_there_says_so(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="local_files_only=False"):
        tokeniser("nobody/has-such-a-model")
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80")
    with pytest.raises(InputError, match=r"there is no model\.safetensors"):
        pretrained(tmp_path, PLAN)
    (tmp_path / "model.safetensors").write_bytes(b"no")
    with pytest.raises(InputError, match="cannot be read"):
        pretrained(tmp_path, PLAN)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="is no tokeniser"):
        tokeniser(tmp_path)
    linear = ModelPlan(name="linear_mlp", shape=(LENGTH,), n_classes=2)
    with pytest.raises(InputError, match="no weights for 'linear_mlp'"):
        pretrained(folder, linear)


def test_what_cannot_be_read_is_refused(folder):
    with pytest.raises(InputError, match="a list of texts"):
        tokens("one", tokeniser(folder), 5)
    with pytest.raises(InputError, match="a length of 1"):
        tokens(["one"], tokeniser(folder), 0)
    with pytest.raises(InputError, match="token 300 of a vocabulary of 257"):
        predict(make(PLAN), torch.full((2, LENGTH), 300), PLAN)
    with pytest.raises(InputError, match="no rows of up to 1024 tokens"):
        make(ModelPlan(name="gpt2_tiny", shape=(3, 8, 8), n_classes=2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "transformers.models.gpt2", None)
        with pytest.raises(InputError, match=r"pip install 'colabel\[text\]'"):
            make(PLAN)
