import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from colabel.errors import InputError
from colabel.privacy.audit import LabelAnswers, copies
from colabel.privacy.audit.label_only import attempts, boundary, calibrated, gap
from colabel.privacy.audit.measures import interval, roc_auc

N, CLASSES, COPIES = 400, 6, 8
MEMBER = np.arange(N) % 2 == 0


def task(seed=0):
    """Points with labels that nobody can guess."""
    random = np.random.default_rng(seed)
    return random.normal(size=(N, 8)), random.integers(CLASSES, size=N)


def answers_of(learner, points):
    changed = copies(points, COPIES, 0, noise=0.05)
    said = [learner.predict(changed[:, i]) for i in range(COPIES)]
    return LabelAnswers(learner.predict(points)[None], np.stack(said, axis=1)[None])


LEARNERS = [DecisionTreeClassifier(random_state=0), KNeighborsClassifier(1)]


@pytest.mark.parametrize("learner", LEARNERS, ids=["tree", "1-NN"])
def test_who_learnt_by_heart_is_found(learner):
    points, labels = task()
    answers = answers_of(learner.fit(points[MEMBER], labels[MEMBER]), points)
    found = {each.attack: each for each in attempts(answers, labels, answers.most)}
    assert [*found] == ["gap", "boundary"]
    assert all(roc_auc(each.scores, MEMBER) >= 0.75 for each in found.values())
    assert (found["gap"].queries, found["boundary"].queries) == (1, 1 + COPIES)


@pytest.mark.parametrize("learner", LEARNERS, ids=["tree", "1-NN"])
def test_who_learnt_with_others_is_not(learner):
    points, labels = task()
    answers = answers_of(learner.fit(*task(seed=1)), points)
    for each in attempts(answers, labels, answers.most):
        low, high = interval(each.scores, MEMBER, level=0.99)
        assert low <= 0.5 <= high


def test_copies_find_members_that_labels_alone_do_not():
    random = np.random.default_rng(0)
    labels = np.ones((1, N), dtype=np.int64)
    kept = random.random((1, N, COPIES)) < np.where(MEMBER, 0.95, 0.6)[:, None]
    answers = LabelAnswers(labels, kept.astype(np.int64))
    assert roc_auc(gap(labels, labels[0]), MEMBER) == 0.5
    assert roc_auc(boundary(answers, labels[0], 1 + COPIES), MEMBER) >= 0.9
    assert roc_auc(boundary(answers, labels[0], 1), MEMBER) == 0.5  # no copies are within it


def test_boundaries_as_counted_one_by_one():
    random = np.random.default_rng(1)
    rounds, truth = 3, random.integers(3, size=N)
    plain = random.integers(-1, 3, size=(rounds, N))
    changed = random.integers(-1, 3, size=(rounds, N, 4))
    for budget in (1, 2, 5, 6, 7, 13, 15, 99):
        got = boundary(LabelAnswers(plain, changed), truth, budget)
        for i in range(0, N, 37):
            asked = [
                (kind, label)
                for r in reversed(range(rounds))
                for kind, label in [("own", plain[r, i]), *(("copy", x) for x in changed[r, i])]
            ][:budget]
            shares = [
                np.mean([label == truth[i] for kind, label in asked if kind == wanted])
                for wanted in ("own", "copy")
                if any(kind == wanted for kind, _ in asked)
            ]
            assert got[i] == pytest.approx(sum(shares))


def test_what_is_easy_need_not_have_been_seen():
    random = np.random.default_rng(2)
    easy = random.uniform(0.0, 0.8, size=N)
    said = (random.random((60, N)) < easy + 0.18 * MEMBER).astype(np.int64)
    right = np.ones(N, dtype=np.int64)
    assert roc_auc(gap(said, right), MEMBER) < 0.75
    assert roc_auc(calibrated(said, right, easy), MEMBER) >= 0.9
    found = {each.attack: each for each in attempts(LabelAnswers(said, None, easy), right, 10)}
    np.testing.assert_array_equal(found["calibrated"].scores, said[-10:].mean(axis=0) - easy)
    assert [*found] == ["gap", "calibrated"]


def test_many_rounds_say_more_and_the_budget_holds():
    random = np.random.default_rng(3)
    said = (random.random((50, N)) < 0.5 + 0.1 * MEMBER).astype(np.int64)
    right = np.ones(N, dtype=np.int64)
    few, many = (next(attempts(LabelAnswers(said), right, budget)) for budget in (2, 50))
    assert (few.queries, many.queries) == (2, 50)
    np.testing.assert_array_equal(few.scores, said[-2:].mean(axis=0))
    assert roc_auc(few.scores, MEMBER) < 0.75 <= roc_auc(many.scores, MEMBER)


def test_no_answer_is_wrong():
    said = np.array([[0, -1, 1]])
    np.testing.assert_array_equal(gap(said, np.array([0, 0, 0])), [1, 0, 0])


def test_images_are_shifted_as_little_as_can_be():
    image = np.arange(20, dtype=np.uint8).reshape(1, 1, 4, 5)
    made = copies(image, 8, 0)
    assert made.shape == (1, 8, 1, 4, 5)
    assert made.dtype == np.uint8
    padded = np.pad(image[0, 0], 1, mode="edge")
    steps = [(1, 0), (1, 2), (0, 1), (2, 1), (0, 0), (0, 2), (2, 0), (2, 2)]
    slow = {padded[y : y + 4, x : x + 5].tobytes() for y, x in steps}
    assert {each.tobytes() for each in made[0, :, 0]} == slow
    straight = {padded[y : y + 4, x : x + 5].tobytes() for y, x in steps[:4]}
    assert {each.tobytes() for each in copies(image, 4, 0)[0, :, 0]} == straight


def test_other_points_get_noise_of_each_columns_size():
    random = np.random.default_rng(4)
    points = random.normal(size=(3000, 2)) * [1.0, 50.0]
    moved = copies(points, 3, 5, noise=0.2) - points[:, None]
    np.testing.assert_allclose(moved.std(axis=(0, 1)), 0.2 * points.std(axis=0), rtol=0.05)
    np.testing.assert_array_equal(copies(points, 3, 5), copies(points, 3, 5))
    assert not np.array_equal(copies(points, 3, 5), copies(points, 3, 6))


def test_shapes_must_fit():
    labels = np.zeros((2, 5), dtype=np.int64)
    for wrong in (
        (labels[0],),
        (labels[:0],),
        (labels, np.zeros((1, 5, 3), dtype=np.int64)),
        (labels, None, np.zeros(4)),
    ):
        with pytest.raises(InputError):
            LabelAnswers(*wrong)
