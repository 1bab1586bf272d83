"""CoTraining: scikit-learn's habits, different models at different sites, input that cannot be."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from colabel import CoTraining, InputError

sys.path.insert(0, str(Path(__file__).parents[1] / "cotrain"))
from worlds import draw

X, NUMBERS = draw(60, 0)
Y = np.array(["low", "mid", "top"])[NUMBERS]
GROUPS = [f"site-{number % 3}" for number in range(60)]
PUBLIC, _ = draw(200, 1)
TEST, TRUTH = draw(500, 2)


def test_it_labels_together_and_predicts_words():
    model = CoTraining(DecisionTreeClassifier(), rounds=3, random_state=0)
    model.fit(X, Y, groups=GROUPS, public=PUBLIC)
    assert model.classes_.tolist() == ["low", "mid", "top"]
    assert sorted(model.estimators_) == ["site-0", "site-1", "site-2"]
    assert set(model.consensus_.tolist()) <= {"low", "mid", "top", None}
    found = model.predict(TEST)
    assert (found == model.classes_[TRUTH]).mean() > 0.6
    shares = model.predict_proba(TEST)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert len(model.history_) == 3
    assert model.ledger_.seen_by("server")


def test_the_same_seed_gives_the_same():
    def fit():
        model = CoTraining(RandomForestClassifier(5), rounds=2, random_state=3)
        return model.fit(X, Y, groups=GROUPS, public=PUBLIC).predict(TEST)

    np.testing.assert_array_equal(fit(), fit())


def test_every_site_may_learn_with_something_else():
    kinds = {
        "site-0": DecisionTreeClassifier(),
        "site-1": LogisticRegression(),
        "site-2": GaussianNB(),
    }
    model = CoTraining(kinds, rounds=2, random_state=0).fit(X, Y, groups=GROUPS, public=PUBLIC)
    assert {name: type(held) for name, held in model.estimators_.items()} == {
        name: type(held) for name, held in kinds.items()
    }


def test_a_network_of_ones_own_goes_on_from_its_last_state():
    torch = pytest.importorskip("torch")
    from colabel.learning.cotraining import NetworkLearner
    from colabel.learning.models import MODELS, ModelPlan, Network, register
    from colabel.learning.plan import LocalPlan, OptimiserPlan

    def mine(plan):
        layers = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh())
        return Network(layers, torch.nn.Linear(8, plan.n_classes), 8)

    register("mine", mine)
    try:
        with pytest.raises(InputError, match="there is a model called 'mine'"):
            register("mine", lambda plan: mine(plan))
        plan = LocalPlan(
            steps=60, labelled_batch=16, optimiser=OptimiserPlan(name="adam", rate=0.02)
        )
        net = NetworkLearner(ModelPlan(name="mine", shape=(3,), n_classes=3), plan, 0, "mine")
        first = net.save()
        model = CoTraining(
            {"site-0": net, "site-1": GaussianNB(), "site-2": net}, rounds=3, random_state=0
        ).fit(X, Y, groups=GROUPS, public=PUBLIC)
        assert (model.predict(TEST) == model.classes_[TRUTH]).mean() > 0.6
        trained = model.estimators_["site-0"].save()
        assert any((trained[name] != held).any() for name, held in first.items())
        # the one that was given stays as it was
        assert all((net.save()[name] == held).all() for name, held in first.items())
    finally:
        del MODELS["mine"]


def test_a_site_that_knows_one_class_only():
    y = np.where(np.array(GROUPS) == "site-1", "low", Y)
    model = CoTraining(LogisticRegression(), rounds=1, random_state=0)
    model.fit(X, y, groups=GROUPS, public=PUBLIC)
    assert model.predict(TEST).shape == (500,)


def test_unlabelled_rows_are_not_learnt_from():
    y = Y.astype(object)
    y[::2] = None
    model = CoTraining(DecisionTreeClassifier(), rounds=1, random_state=0)
    model.fit(X, y, groups=GROUPS, public=PUBLIC)
    assert model.classes_.tolist() == ["low", "mid", "top"]


@pytest.mark.parametrize(
    ("settings", "fit", "match"),
    [
        ({}, {"public": None}, "no public points"),
        ({"estimators": [DecisionTreeClassifier()]}, {}, "1 estimators for 3 sites"),
        ({"estimators": {"site-9": DecisionTreeClassifier()}}, {}, "site-9"),
        ({"estimators": "tree"}, {}, "no estimator"),
        ({"consensus": "most"}, {}, "consensus.rule is 'most'"),
        ({"rounds": 0}, {}, "rounds is 0"),
        ({}, {"public": PUBLIC[:, :2]}, "features"),
    ],
)
def test_input_that_cannot_be(settings, fit, match):
    model = CoTraining(**{"estimators": DecisionTreeClassifier(), **settings})
    with pytest.raises((InputError, ValueError), match=match):
        model.fit(X, Y, groups=GROUPS, **{"public": PUBLIC, **fit})
