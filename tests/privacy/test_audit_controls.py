from dataclasses import replace

import msgspec
import numpy as np
import pytest

from colabel.errors import InputError
from colabel.privacy.audit import (
    AuditReport,
    Candidates,
    Control,
    Exposure,
    LabelAnswers,
    ScoreAnswers,
    Shadows,
    UpdateAnswers,
    audit,
    built_in,
    halves,
    label_only,
    scores,
    white_box,
)
from colabel.privacy.audit.audit import attempts
from colabel.privacy.audit.measures import roc_auc
from colabel.report.audit_plot import draw_audit

N, CLASSES, MODELS = 240, 3, 6
MEMBER = np.arange(N) % 2 == 0
NOBODY = np.zeros((MODELS, N), dtype=bool)


def candidates(seed=0, shape=(6,)):
    random = np.random.default_rng(seed)
    labels = random.integers(CLASSES, size=N)
    points = random.normal(size=(N, *shape))
    points.reshape(N, -1)[:, :CLASSES] += np.eye(CLASSES)[labels]
    return Candidates(points, labels, MEMBER)


def revealing(rounds=7, leak=1.0, seed=0):
    """One exposure of each kind, that gives members away by so much."""
    random = np.random.default_rng(seed)
    labels = candidates().labels
    sure = random.normal(size=(rounds, N)) + leak * MEMBER
    said = np.where(sure > 0, labels, (labels + 1) % CLASSES)
    changed = np.where(
        random.random((rounds, N, 3)) < 0.5 + 0.3 * leak * MEMBER[:, None], labels[:, None], -1
    )

    def soft(logits):
        rows = np.where(np.arange(CLASSES) == labels[:, None], logits[..., None], 0.0)
        return np.exp(rows) / np.exp(rows).sum(axis=-1, keepdims=True)

    online = halves(N, MODELS, 0)
    noise = random.normal(size=(MODELS, N))
    shadows = (Shadows(soft(noise + leak * online), online), Shadows(soft(noise), NOBODY))
    return [
        Exposure("FedCT", (LabelAnswers(said, changed, np.full(N, 0.5)),)),
        Exposure("DD", (ScoreAnswers(soft(sure), shadows),)),
        Exposure("FedAvg", (UpdateAnswers(-sure, sure, np.exp(-sure)),)),
    ]


ATTACKS = {
    ("gap", "labels"), ("calibrated", "labels"), ("boundary", "labels"),
    ("gap", "scores"), ("confidence", "scores"), ("shadow", "scores"),
    ("lira", "scores"), ("lira, offline", "scores"),
    ("loss", "updates"), ("gradient norm", "updates"), ("alignment", "updates"),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(6,), (1, 6, 6)], ids=["columns", "images"])
def test_the_positive_control_is_found_and_the_negative_is_not(shape):
    like = [part for each in revealing() for part in each.answers]
    positive, negative = built_in(candidates(shape=shape), like, 7, 0)
    for control in (positive, negative):
        made = [a for each in control.answers for a in attempts(each, control.candidates.labels, 7)]
        assert {(each.attack, each.exposes) for each in made} == ATTACKS
        for each in made:
            auc = roc_auc(each.scores, control.candidates.member)
            assert auc >= 0.8 if control.positive else abs(auc - 0.5) < 0.12, each.attack


def test_the_positive_control_saw_its_members_and_the_negative_saw_nobody():
    random, right = np.random.default_rng(5), candidates()
    guesses = random.integers(8, size=N)
    like = LabelAnswers(guesses[None])
    for control in built_in(replace(right, labels=guesses), [like], 1, 0):
        truth, member = control.candidates.labels, control.candidates.member
        hits = control.answers[0].labels[0] == truth
        assert hits[~member].mean() < 0.25
        assert hits[member].mean() > 0.95 if control.positive else hits[member].mean() < 0.25


def test_an_audit_finds_what_leaks_and_no_more():
    loud, quiet = (audit(candidates(), revealing(leak=leak)) for leak in (1.5, 0.0))
    assert loud.valid
    assert quiet.valid
    for each in loud.methods:
        assert each.strongest.low > 0.75
        assert each.strongest.auc == max(found.auc for found in each.findings)
    for each in quiet.methods:
        assert each.strongest.low < 0.55 < each.strongest.high
        assert all(abs(found.auc - 0.5) < 0.12 for found in each.findings)
    assert {(f.attack, f.exposes) for each in loud.methods for f in each.findings} == ATTACKS


def test_all_methods_answer_equally_often():
    label, score, update = revealing(rounds=50)
    once = Exposure("once", (LabelAnswers(label.answers[0].labels[-2:]),))
    report = audit(candidates(), [once, score, update])
    assert report.budget == 2
    assert {f.queries for each in report.methods for f in each.findings} == {2}
    more = audit(candidates(), [label, score, update], budget=30)
    queries = {f.attack: f.queries for f in more.methods[0].findings}
    assert queries == {"gap": 30, "calibrated": 30, "boundary": 30}
    assert more.methods[2].strongest.auc > report.methods[2].strongest.auc
    with pytest.raises(InputError, match="once gives 2"):
        audit(candidates(), [once, score, update], budget=30)


def test_intervals_hold_for_the_strongest_of_many():
    update = revealing()[2]
    alone = Exposure("alone", (UpdateAnswers(update.answers[0].losses),))
    report = audit(candidates(), [update, alone])
    among = next(f for f in report.methods[0].findings if f.attack == "loss")
    single = report.methods[1].strongest
    assert among.auc == single.auc
    assert among.low < single.low < single.high < among.high


def test_without_its_positive_control_an_audit_is_invalid():
    like = revealing(leak=1.5)
    answers = [part for each in like for part in each.answers]
    positive, negative = built_in(candidates(), answers, 4, 0)
    deaf = replace(positive, answers=negative.answers, candidates=negative.candidates)
    report = audit(candidates(), like, controls=[deaf, negative])
    assert not report.valid
    assert len(report.invalid) == len(ATTACKS)
    assert "did not reach 0.75" in report.invalid[0]
    assert "Invalid" in report.table()
    assert audit(candidates(), like, controls=[positive, negative]).valid


@pytest.mark.parametrize(
    ("room", "name", "attack"),
    [
        (label_only, "gap", "gap on labels"),
        (label_only, "calibrated", "calibrated on labels"),
        (label_only, "boundary", "boundary on labels"),
        (scores, "gap", "gap on scores"),
        (scores, "shadow_attack", "shadow on scores"),
        (scores, "lira", "lira on scores"),
        (white_box, "loss_threshold", "loss on updates"),
        (white_box, "gradient_norm", "gradient norm on updates"),
        (white_box, "gradient_alignment", "alignment on updates"),
    ],
)
def test_an_attack_that_is_switched_off_is_noticed(room, name, attack, monkeypatch):
    right = getattr(room, name)
    monkeypatch.setattr(room, name, lambda *given, **more: 0 * right(*given, **more))
    kind = attack.split(" on ")[1]
    like = [each for each in revealing(leak=1.5) if each.answers[0].exposes == kind]
    report = audit(candidates(), like)
    assert not report.valid
    assert any(reason.startswith(attack) for reason in report.invalid)


def test_attacks_without_a_control_are_not_believed():
    label, _, update = revealing()
    controls = built_in(candidates(), label.answers, 7, 0)
    report = audit(candidates(), [label, update], controls=controls)
    assert not report.valid
    assert "loss on updates had no positive control" in report.invalid
    assert "loss on updates had no negative control" in report.invalid
    none = audit(candidates(), [update], controls=controls)
    assert [len(control.findings) for control in none.controls] == [0, 0, 1]
    assert "had no positive control" in none.table()


def test_members_that_differ_before_any_training_are_noticed():
    right = candidates()
    moved = replace(right, points=right.points + 1.5 * MEMBER[:, None] * (np.arange(6) == 5))
    report = audit(moved, revealing(leak=0.0))
    assert "blind" in {reason.split()[0] for reason in report.invalid}
    # others whose labels are noise are hard for every model, whatever it saw
    random, points = np.random.default_rng(1), right.points.copy()
    points[:, :CLASSES] += 3 * np.eye(CLASSES)[right.labels]
    noisy = np.where(MEMBER, right.labels, random.integers(CLASSES, size=N))
    report = audit(Candidates(points, noisy, MEMBER), revealing(leak=0.0))
    failed = {control.kind: control.failed for control in report.controls}
    assert failed["negative"]
    assert not failed["positive"]


def test_reports_travel_and_read_well():
    report = audit(candidates(), revealing())
    assert msgspec.json.decode(msgspec.json.encode(report), type=AuditReport) == report
    rows = report.table().splitlines()
    assert rows[0].startswith("|  | reveals | attack | VUL (AUC) | 95 % |")
    names = ["FedCT", "DD", "FedAvg", "positive control", "negative control", "blind control"]
    assert [row.split(" | ")[0].strip("| ") for row in rows[2:8]] == names
    assert all("needs 1,000 non-members" in row for row in rows[2:8])
    assert rows[-1] == "All controls passed."
    n_findings = len(ATTACKS) * 3 + 1
    assert report.table(every=True).count("\n") == 2 + n_findings + 1
    assert audit(candidates(), revealing()) == report


def test_pictures(tmp_path):
    report = audit(candidates(), revealing()[:1])
    assert draw_audit(report, tmp_path / "roc.png").read_bytes()[:4] == b"\x89PNG"
    first, again = (
        draw_audit(report, tmp_path / f"{name}.svg").read_bytes() for name in ("a", "b")
    )
    assert first == again
    assert b"<svg" in first


def test_exposures_must_be_about_the_candidates():
    label, score, _ = revealing()
    short = LabelAnswers(label.answers[0].labels[:, :-1])
    with pytest.raises(InputError) as refusal:
        audit(candidates(), [Exposure("a", (short,)), Exposure("b", ()), score, score])
    assert len(refusal.value.problems) == 3
    with pytest.raises(InputError, match="nothing to audit"):
        audit(candidates(), [])


def test_a_control_of_ones_own():
    """A model of the user's that overfits counts as well as ours."""
    loud, quiet = (revealing(leak=leak)[2].answers for leak in (3.0, 0.0))
    controls = [Control(True, candidates(), loud), Control(False, candidates(), quiet)]
    report = audit(candidates(), [Exposure("FedAvg", quiet)], controls=controls)
    assert report.valid
    assert [control.kind for control in report.controls] == ["positive", "negative", "blind"]
