import numpy as np
import pytest
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from colabel.errors import InputError
from colabel.privacy.audit import ScoreAnswers, Shadows, halves
from colabel.privacy.audit.measures import interval, roc_auc
from colabel.privacy.audit.scores import attempts, confidence, lira, resolution, shadow_attack

N, CLASSES, MODELS = 300, 4, 8
MEMBER = np.arange(N) % 2 == 0


def task(seed=0):
    """Classes that overlap, so that nobody can be right about everything without learning it."""
    random = np.random.default_rng(seed)
    labels = random.integers(CLASSES, size=N)
    return random.normal(size=(N, 6)) + 0.7 * np.eye(CLASSES, 6)[labels], labels


def fit(points, labels, rows):
    return RandomForestClassifier(15, random_state=0).fit(points[rows], labels[rows])


@pytest.fixture(scope="module")
def shadows():
    points, labels = task()
    online, own = halves(N, MODELS, 0), task(2)
    learnt = [fit(points, labels, rows) for rows in online]
    strangers = [fit(*own, rows) for rows in online]
    nobody = np.zeros((MODELS, N), dtype=bool)
    return (
        Shadows(np.stack([each.predict_proba(points) for each in learnt]), online),
        Shadows(np.stack([each.predict_proba(points) for each in strangers]), nobody),
        Shadows(np.stack([each.predict_proba(own[0]) for each in strangers]), online, own[1]),
    )


def found_by(scores, shadows):
    made = list(attempts(ScoreAnswers(scores[None], shadows), task()[1], 1))
    assert [each.attack for each in made] == [
        "gap", "confidence", "shadow", "lira", "lira, offline", "shadow",
    ]  # fmt: skip
    return made


def test_who_learnt_by_heart_is_found(shadows):
    points, labels = task()
    target = fit(points, labels, MEMBER).predict_proba(points)
    for each in found_by(target, shadows)[1:]:
        assert roc_auc(each.scores, MEMBER) >= 0.75, each.attack
    tree = DecisionTreeClassifier(random_state=0).fit(points[MEMBER], labels[MEMBER])
    made = list(attempts(ScoreAnswers(tree.predict_proba(points)[None]), labels, 1))
    assert all(roc_auc(each.scores, MEMBER) >= 0.7 for each in made)


def test_who_learnt_with_others_is_not(shadows):
    points = task()[0]
    for each in found_by(fit(*task(3), MEMBER).predict_proba(points), shadows):
        low, high = interval(each.scores, MEMBER, level=0.99)
        assert low <= 0.5 <= high, each.attack


def drawn_confidences(n_models=20, spread=4.0, seed=0):
    """Points differ in difficulty by more than membership changes."""
    random = np.random.default_rng(seed)
    hard = spread * random.normal(size=N)
    inside, outside = (hard + shift + random.normal(size=(n_models, N)) for shift in (2.0, 0.0))
    return hard + 2.0 * MEMBER + random.normal(size=N), inside, outside


def test_lira_knows_what_is_hard():
    target, inside, outside = drawn_confidences()
    assert roc_auc(target, MEMBER) < 0.7
    assert roc_auc(lira(target, inside, outside), MEMBER) >= 0.85
    assert roc_auc(lira(target, None, outside), MEMBER) >= 0.85
    assert roc_auc(lira(target, outside, inside), MEMBER) <= 0.15


def test_few_models_want_one_variance():
    target, inside, outside = drawn_confidences(n_models=2)
    own = roc_auc(lira(target, inside, outside, own_variance=True), MEMBER)
    assert roc_auc(lira(target, inside, outside), MEMBER) > own + 0.05


def test_many_models_may_give_each_point_its_own():
    random = np.random.default_rng(1)
    width = np.where(np.arange(N) < N / 2, 0.1, 5.0)
    inside, outside = (s + width * random.normal(size=(200, N)) for s in (1.0, 0.0))
    target = 1.0 * MEMBER + width * random.normal(size=N)
    pooled, own = (lira(target, inside, outside, own_variance=flag) for flag in (False, True))
    assert roc_auc(own, MEMBER) > roc_auc(pooled, MEMBER) + 0.03


@pytest.mark.parametrize("own", [False, True])
def test_lira_as_written_out(own):
    target, inside, outside = drawn_confidences(n_models=6)
    inside[0, :100], outside[3, 50:] = np.nan, np.nan
    got = lira(np.stack([target, target + 1]), inside, outside, own_variance=own)
    for i in range(0, N, 29):
        sides = []
        for values in (inside, outside):
            known = [column[~np.isnan(column)] for column in values.T]
            squares = sum(((k - k.mean()) ** 2).sum() for k in known)
            free = sum(len(k) - 1 for k in known)
            width = known[i].std(ddof=1) if own else np.sqrt(squares / free)
            sides.append(norm(known[i].mean(), width))
        for turn in (0, 1):
            ratio = sides[0].logpdf(target[i] + turn) - sides[1].logpdf(target[i] + turn)
            assert got[turn, i] == pytest.approx(ratio)


def test_lira_needs_models_with_and_without_each_point():
    target, inside, outside = drawn_confidences(n_models=3)
    inside[:, 5] = np.nan
    with pytest.raises(InputError, match="too few"):
        lira(target, inside, outside)
    with pytest.raises(InputError, match="too few"):
        lira(target, None, outside[:1])
    assert np.isfinite(lira(target, None, outside)).all()


def test_a_shadow_classifier_sees_more_than_the_true_class():
    """Members and others get the same for their true class; the rest is spread, or on one."""
    random = np.random.default_rng(2)
    labels = random.integers(CLASSES, size=N)

    def scores(member):
        noise = random.uniform(0.0, 0.1, size=(N, 1))
        rest = np.where(member[:, None], [0.13, 0.13, 0.14], [0.3, 0.05, 0.05])
        rows = np.concatenate([0.6 + 0 * noise, (0.4 - noise) * rest / 0.4], axis=1)
        shifted = (np.arange(CLASSES) - labels[:, None]) % CLASSES
        return np.take_along_axis(rows, shifted, axis=1)

    halved = halves(N, 2, 0)
    known = Shadows(np.stack([scores(rows) for rows in halved]), halved)
    target = scores(MEMBER)
    assert abs(roc_auc(confidence(target, labels), MEMBER) - 0.5) < 0.1
    assert roc_auc(shadow_attack(target[None], labels, known)[0], MEMBER) >= 0.95


def test_confidences():
    scores = np.array([[[0.7, 0.2, 0.1], [0.5, 0.5, 0.0]]])
    expected = [[np.log(0.7 / 0.3), np.log(1e-3 / 1.0)]]
    np.testing.assert_allclose(confidence(scores, np.array([0, 2]), 1e-3), expected)
    sure = np.array([[1.0, 1e-9], [1.0, 1e-10]], dtype=np.float32)  # 1 − p is 0 for both
    first, second = confidence(sure, np.array([0, 0]))
    assert first < second


def test_a_zero_means_what_the_model_can_tell():
    assert resolution(np.array([0.0, 0.05, 0.95])) == pytest.approx(0.025)
    assert resolution(np.array([0.0, 1.0]), np.array([0.2, 0.8])) == pytest.approx(0.1)
    assert resolution(np.array([1e-30, 1.0])) == 1e-12


def test_every_point_is_with_half_of_the_models():
    member = halves(101, 6, 3)
    assert (member.sum(axis=0) == 3).all()
    assert len({row.tobytes() for row in member}) == 6


def test_rounds_are_averaged_within_the_budget(shadows):
    points, labels = task()
    rounds = np.stack(
        [fit(points, labels, rows).predict_proba(points) for rows in ~halves(N, 3, 1)]
    )
    made = list(attempts(ScoreAnswers(rounds, shadows), labels, 2))
    assert {each.queries for each in made} == {2}
    least = resolution(rounds[1:], *(each.scores for each in shadows))
    sure = confidence(rounds[1:], labels, least)
    np.testing.assert_allclose(made[1].scores, sure.mean(axis=0))
    usual, member = confidence(shadows[0].scores, labels, least), shadows[0].member
    inside, outside = np.where(member, usual, np.nan), np.where(member, np.nan, usual)
    slow = np.mean([lira(each, inside, outside) for each in sure], axis=0)
    np.testing.assert_allclose(made[3].scores, slow)


def test_what_does_not_fit_is_refused():
    scores, member = np.full((2, 5, 3), 1 / 3), np.zeros((2, 5), dtype=bool)
    other = np.full((2, 4, 3), 1 / 3)
    for make in (
        lambda: ScoreAnswers(scores[0]),
        lambda: ScoreAnswers(scores - 1),
        lambda: ScoreAnswers(np.where(scores > 0, np.nan, 0)),
        lambda: Shadows(scores, member[:1]),
        lambda: Shadows(scores, member, np.zeros(4, dtype=np.int64)),
        lambda: ScoreAnswers(scores, (Shadows(other, member[:, :4]),)),
        lambda: ScoreAnswers(scores, (Shadows(scores[..., :2], member),)),
    ):
        with pytest.raises(InputError):
            make()
    ScoreAnswers(scores, (Shadows(other, member[:, :4], np.zeros(4, dtype=np.int64)),))
