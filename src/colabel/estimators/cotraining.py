"""Co-training as a scikit-learn estimator: any classifiers, one at each site."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from colabel.cotrain.consensus import ConsensusPlan, consensus, count
from colabel.cotrain.learners import Fitted, Learner
from colabel.data.site import Sites, from_groups
from colabel.errors import InputError, Problem
from colabel.estimators.targets import decode, encode, site_names
from colabel.jobs.cotrain import CotrainOutcome, cotrain_sites, learn_alone, plan_for
from colabel.privacy.label_accounting import LabelPrivacy
from colabel.privacy.ledger import Ledger

Labels = NDArray[np.int64]


class CoTraining(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Sites share hard labels of public points, and nothing else; each keeps a model of its own.

    Parameters
    ----------
    estimators : classifier, or dict or sequence of them
        What each site learns with, by the site's name, or in the order of the sites' names; one
        alone is cloned for all. Anything with `fit` and `predict`, which is fitted anew in every
        turn; or a `Learner`, as networks are (`colabel.learning.cotraining.NetworkLearner`), which
        goes on from its last state.
    rounds : int
        How often the sites learn and exchange labels.
    consensus : {"majority", "qualified"}
    quorum : float
        The share of votes that a label needs, if "qualified".
    ties : {"abstain", "seeded"}
        What becomes of a point on which no class leads.
    votes : {"masked", "clear"}
        Whether the server gets sums of votes only, or what each site says.
    privacy : LabelPrivacy, optional
        What is done to labels before they leave a site.
    random_state : int, RandomState or None
        Seeds estimators that have a `random_state` of None, and ties. Never the noise.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
    estimators_ : dict of the fitted estimators, by site
        They know classes by their numbers in `classes_`; None where a site has only one class.
        Learners are themselves.
    consensus_ : array, a label for every public point; −1 (None) where there is none
    sites_ : tuple of the sites' names
    ledger_, cost_, history_
        What was revealed to whom, bytes and seconds, and what happened in every turn.
    """

    def __init__(
        self,
        estimators: Any = None,
        rounds: int = 10,
        consensus: str = "majority",
        quorum: float = 0.9,
        ties: str = "abstain",
        votes: str = "masked",
        privacy: LabelPrivacy | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.rounds = rounds
        self.consensus = consensus
        self.quorum = quorum
        self.ties = ties
        self.votes = votes
        self.privacy = privacy
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        public: ArrayLike | None = None,
    ) -> Self:
        """`groups` names each row's site, `public` has the points that all sites hold."""
        points = self._checked(X, reset=True)
        self.classes_, codes = encode(y, len(points))
        names = site_names(groups, len(points))
        sites = from_groups(points, codes, names, [str(name) for name in self.classes_])
        self.sites_ = sites.names
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._learners = self._make_learners()
        if len(sites) == 1:
            learn_alone(sites, self._learners)
            self._report(np.empty(0, np.int64), None)
            return self
        if public is None:
            what = f"{len(sites)} sites, and no public points to label together"
            raise InputError(Problem(what, "Give fit(…, public=U): points that every site holds."))
        outcome = self._cotrain(sites, self._checked(public))
        self._report(outcome.result.consensus, outcome)
        return self

    def _cotrain(self, sites: Sites, public: NDArray[np.floating]) -> CotrainOutcome:
        plan = plan_for(
            public,
            max(len(self.classes_), 2),
            rounds=self.rounds,
            consensus=self._rule(),
            votes=self.votes,
            privacy=self.privacy,
            seed=self._seed,
        )
        return cotrain_sites(sites, public, self._learners, plan)

    def _rule(self) -> ConsensusPlan:
        return ConsensusPlan(rule=self.consensus, quorum=self.quorum, ties=self.ties)  # type: ignore[arg-type]

    def _report(self, agreed: Labels, outcome: CotrainOutcome | None) -> None:
        self.estimators_ = {
            name: held.model if isinstance(held, Fitted) else held
            for name, held in self._learners.items()
        }
        self.consensus_ = decode(agreed, self.classes_)
        self.ledger_ = Ledger() if outcome is None else outcome.ledger
        self.cost_ = None if outcome is None else outcome.costs
        self.history_ = () if outcome is None else outcome.history

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The share of sites' models that choose each class."""
        check_is_fitted(self)
        points = self._checked(X)
        votes = count((held.predict(points) for held in self._learners.values()), self._n_classes)
        return (votes / len(self._learners))[:, : len(self.classes_)]

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """What most of the sites' models choose; among equals, one drawn by the seed."""
        check_is_fitted(self)
        points = self._checked(X)
        votes = count((held.predict(points) for held in self._learners.values()), self._n_classes)
        found = consensus(votes, ConsensusPlan(ties="seeded"), self._seed, -1)
        return self.classes_[found]

    @property
    def _n_classes(self) -> int:
        return len(self.classes_)

    def _checked(self, X: ArrayLike, *, reset: bool = False) -> NDArray[np.floating]:
        checked: NDArray[np.floating] = validate_data(
            self, X, dtype=[np.float64, np.float32], reset=reset
        )
        return checked

    def _make_learners(self) -> dict[str, Learner]:
        return {
            name: deepcopy(given)
            if isinstance(given, Learner)
            else Fitted(partial(_fresh, given, seed), len(self.classes_))
            for seed, (name, given) in enumerate(self._by_site().items(), start=self._seed)
        }

    def _by_site(self) -> Mapping[str, Any]:
        given, names = self.estimators, self.sites_
        if given is None:
            from sklearn.ensemble import RandomForestClassifier

            given = RandomForestClassifier()
        if isinstance(given, Mapping):
            missing = [name for name in names if name not in given]
            strangers = [name for name in given if name not in names]
            if missing or strangers:
                what = (
                    f"estimators lack {missing or 'nobody'} and name {strangers or 'nobody'} else"
                )
                raise InputError(Problem(what, f"The sites are {', '.join(names)}."))
            return {name: given[name] for name in names}
        if isinstance(given, Sequence) and not isinstance(given, str):
            if len(given) != len(names):
                what = f"{len(given)} estimators for {len(names)} sites"
                raise InputError(Problem(what, "Give one each, or a single one to clone."))
            return dict(zip(names, given, strict=True))
        return dict.fromkeys(names, given)


def _fresh(given: Any, seed: int) -> Any:
    """An unfitted copy; what would be drawn at random anew each time is seeded."""
    if not hasattr(given, "fit") or not hasattr(given, "predict"):
        what = f"{type(given).__name__} is no estimator"
        raise InputError(Problem(what, "Give an object with fit(X, y) and predict(X)."))
    made = clone(given, safe=False)
    if hasattr(made, "get_params") and made.get_params().get("random_state", 0) is None:
        made.set_params(random_state=seed % 2**31)
    return made
