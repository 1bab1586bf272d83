"""scikit-learn estimators: label propagation across sites, at each site alone, or pooled.

Rows that belong together in `groups` are a site. Unlabelled rows have y = −1, or None or NaN.
The three differ only in who builds a graph together.
"""

import warnings
from collections.abc import Mapping
from inspect import signature
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from colabel.crypto.prg import SEED_BYTES
from colabel.data.site import UNLABELLED, Sites, from_groups
from colabel.engines.costs import Costs
from colabel.errors import ColabelWarning, InputError, Problem, did_you_mean
from colabel.estimators.targets import decode, encode, site_names
from colabel.federation.own_labels import OwnLabels
from colabel.federation.plan import LabellingPlan
from colabel.jobs.label import Outcome, label, label_new
from colabel.privacy.ledger import Ledger

# what a preset sets wherever the parameter is left at its default
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "paper": {
        "n_neighbors": 10,
        "alpha": 0.99,
        "features": "identity",
        "equalise": False,
        "sharpness": 1.0,
        "density_correction": False,
        "class_weighting": "none",
        "keep_labels": False,
        "confidence": "entropy",
    },
}
Floats = NDArray[np.float64]


class CrossClientLabelPropagation(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Label across sites: one graph over all sites' points, no point or label shown to anybody.

    Parameters
    ----------
    n_neighbors : int or "auto"
        Neighbours of each point in the graph.
    alpha : float, "share" or "auto"
        How far labels reach, between 0 and 1. "share" is 1 minus the share of labelled points,
        between 0.5 and 0.98. "auto" (here or above) tries several values and leaves the default
        only for one that is clearly better on labels that are held out.
    n_bits : int
        Length of the codes that are compared; more is nearer to the true angles.
    hamming : str
        How the codes are compared, and with it whether anything is protected: "lattice", "ot",
        "paillier", "dealer", "sketch", or "clear" for no protection (SECURITY.md says who
        learns what). The labels are the same. With one site there is nothing to protect.
    features : {"identity", "centred", "standardised", "scaled"}
        Preprocessing that the sites agree on, by sums over all sites. "identity" may be better
        for embeddings of texts.
    equalise : bool
        Shrink the few directions in which all points differ most. The server does it with the
        distances alone.
    sharpness : float
        Power of the similarities.
    density_correction : bool
        Keep labels from flowing into crowded regions only because these are crowded.
    class_weighting : {"balanced", "none"}
        "balanced" divides the influence of a label by the number of labels of its class: right
        for balanced accuracy. "none" is often better for plain accuracy on skewed classes.
    keep_labels : bool
        Keep the labels that were given; otherwise they are propagated anew like all others.
    confidence : {"probability", "entropy"}
        "probability" is the share of the chosen label in all influence that reaches the point,
        "entropy" is the paper's 1 − entropy / log C.
    preset : {"paper"}, optional
        "paper" is Algorithm 1 of XCLP to the letter, in every parameter left at its default.
    random_state : int, RandomState or None
        Fixes the hyperplanes, in public. With None they are drawn by the sites, in secret.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    transduction_ : array of shape (n,)
        A label for every row; −1 (None, if the classes are not numbers) where no label reaches.
    label_distributions_ : array of shape (n, n_classes)
    confidence_ : array of shape (n,)
    ledger_ : Ledger
        What was revealed to whom.
    cost_ : Costs
        Bytes and seconds of every step.
    n_neighbors_, alpha_
        What was used.
    sites_ : tuple of the sites' names
    """

    def __init__(
        self,
        n_neighbors: int | Literal["auto"] = 20,
        alpha: float | Literal["share", "auto"] = "share",
        n_bits: int = 4096,
        hamming: str = "lattice",
        features: str = "scaled",
        equalise: bool = True,
        sharpness: float = 4.0,
        density_correction: bool = True,
        class_weighting: str = "balanced",
        keep_labels: bool = True,
        confidence: str = "probability",
        preset: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.n_bits = n_bits
        self.hamming = hamming
        self.features = features
        self.equalise = equalise
        self.sharpness = sharpness
        self.density_correction = density_correction
        self.class_weighting = class_weighting
        self.keep_labels = keep_labels
        self.confidence = confidence
        self.preset = preset
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Label all rows; `groups` names each row's site (one site if it is None)."""
        X = self._checked(X)
        self.classes_, codes = encode(y, len(X))
        names = self._site_names(groups, len(X))
        self.sites_ = tuple(np.unique(names).tolist())
        self._plan = self._make_plan()
        self._fitted: dict[str, tuple[Sites, Outcome]] = {}
        result = _Rows(len(X), len(self.classes_))
        for community in np.unique(self._communities(names)).tolist():
            rows = np.flatnonzero(self._communities(names) == community)
            sites = self._as_sites(X[rows], codes[rows], names[rows])
            if not any(site.labelled.any() for site in sites.sites):
                continue
            outcome = self._label(sites)
            self._fitted[community] = (sites, outcome)
            result.fill(rows, names[rows], sites, outcome)
        self.label_distributions_, self.confidence_ = result.distributions, result.confidence
        self.transduction_ = decode(result.labels, self.classes_)
        self._report(list(self._fitted.values()))
        return self

    def predict_proba(self, X: ArrayLike, groups: ArrayLike | None = None) -> Floats:
        """Class shares of new rows, from their neighbours in the graph; 0 where none reaches."""
        return self._predict(X, groups).distributions

    def predict(self, X: ArrayLike, groups: ArrayLike | None = None) -> NDArray[np.generic]:
        """Labels of new rows; −1 (or None) where no label reaches."""
        return decode(self._predict(X, groups).labels, self.classes_)

    def _predict(self, X: ArrayLike, groups: ArrayLike | None) -> "_Rows":
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        names = self._new_names(groups, len(X))
        result = _Rows(len(X), len(self.classes_))
        for community, (sites, outcome) in self._fitted.items():
            rows = np.flatnonzero(self._communities(names) == community)
            if not len(rows) or outcome.labelled is None:
                continue
            visitors = np.array([f"{name} (new rows)" for name in names[rows]])
            blank = np.full(len(rows), UNLABELLED)
            newcomers = self._as_sites(X[rows], blank, visitors)
            new = label_new(sites, newcomers, outcome.labelled, self._plan)
            result.fill(rows, visitors, newcomers, new)
        return result

    def _checked(self, X: ArrayLike, *, reset: bool = True) -> NDArray[np.floating]:
        checked: NDArray[np.floating] = validate_data(
            self, X, dtype=[np.float64, np.float32], reset=reset
        )
        return checked

    def _site_names(self, groups: ArrayLike | None, n_rows: int) -> NDArray[np.str_]:
        return site_names(groups, n_rows)

    def _new_names(self, groups: ArrayLike | None, n_rows: int) -> NDArray[np.str_]:
        return self._site_names(groups, n_rows)

    def _communities(self, names: NDArray[np.str_]) -> NDArray[np.str_]:
        """Who builds a graph together: here all sites."""
        return np.full(len(names), "all")

    def _as_sites(
        self, X: NDArray[np.floating], codes: NDArray[np.int64], names: NDArray[np.str_]
    ) -> Sites:
        return from_groups(X, codes, names, [str(name) for name in self.classes_])

    def _label(self, sites: Sites) -> Outcome:
        n_rows, wanted = sum(len(site) for site in sites.sites), self._plan.n_neighbors
        if n_rows < 2:
            raise InputError(Problem("there is only 1 sample", "Give at least 2 rows."))
        if wanted != "auto" and wanted >= n_rows:
            warnings.warn(
                f"n_neighbors={wanted} with {n_rows} points: {n_rows - 1} neighbours are used",
                ColabelWarning,
                stacklevel=4,
            )
        return label(sites, self._plan)

    def _make_plan(self) -> LabellingPlan:
        settings = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params(deep=False).items()
        }
        preset, random_state = settings.pop("preset"), settings.pop("random_state")
        if preset is not None:
            if preset not in PRESETS:
                hint = did_you_mean(str(preset), tuple(PRESETS))
                raise InputError(Problem(f"preset is {preset!r}", hint))
            defaults = signature(type(self)).parameters
            for name, value in PRESETS[preset].items():
                if settings[name] == defaults[name].default:
                    settings[name] = value
        seed = None
        if random_state is not None:
            seed = check_random_state(random_state).bytes(SEED_BYTES)
        return LabellingPlan(n_classes=len(self.classes_), seed=seed, **settings).validate()

    def _report(self, fitted: list[tuple[Sites, Outcome]]) -> None:
        _, outcome = fitted[0]
        self.ledger_, self.cost_ = outcome.ledger, outcome.costs
        if outcome.labelled is not None:
            self.n_neighbors_ = outcome.labelled.n_neighbors
            self.alpha_ = outcome.labelled.alpha


class PerSiteLabelPropagation(CrossClientLabelPropagation):
    """Label each site by its own points and labels only: what a site can do alone.

    Parameters and attributes are those of `CrossClientLabelPropagation`; nothing is released.
    """

    def _communities(self, names: NDArray[np.str_]) -> NDArray[np.str_]:
        return names

    def _new_names(self, groups: ArrayLike | None, n_rows: int) -> NDArray[np.str_]:
        if groups is None and len(self.sites_) > 1:
            raise InputError(
                Problem(
                    "groups is missing", "Name the site of each new row: each has its own graph."
                )
            )
        names = (
            site_names(groups, n_rows) if groups is not None else np.full(n_rows, self.sites_[0])
        )
        unknown = sorted(set(names) - set(self.sites_))
        if unknown:
            raise InputError(
                Problem(f"no such site at fit: {name}", did_you_mean(name, self.sites_), name)
                for name in unknown
            )
        return names

    def _report(self, fitted: list[tuple[Sites, Outcome]]) -> None:
        super()._report(fitted)
        self.ledger_, self.cost_ = Ledger(), Costs()


class PooledLabelPropagation(CrossClientLabelPropagation):
    """Label as if there were no sites: what showing everything to one place would give.

    Parameters and attributes are those of `CrossClientLabelPropagation`; `groups` is ignored.
    """

    def _site_names(self, groups: ArrayLike | None, n_rows: int) -> NDArray[np.str_]:
        return np.full(n_rows, "pool")


class _Rows:
    """Results in the order of the user's rows."""

    def __init__(self, n_rows: int, n_classes: int) -> None:
        self.labels = np.full(n_rows, UNLABELLED)
        self.confidence = np.zeros(n_rows)
        self.distributions = np.zeros((n_rows, n_classes))

    def fill(
        self, rows: NDArray[np.intp], names: NDArray[np.str_], sites: Sites, outcome: Outcome
    ) -> None:
        """Put each site's own results where its rows are."""
        for name in sites.names:
            own: OwnLabels | None = outcome.own[name]
            if own is not None:
                at = rows[names == name]
                self.labels[at], self.confidence[at] = own.labels, own.confidence
                self.distributions[at] = own.distributions
