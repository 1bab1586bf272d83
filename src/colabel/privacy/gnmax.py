"""GNMax: the class that leads under Gaussian noise, and what it costs [PATE: Papernot et al. 2018].

Unit: a site with all its data, and so each of its records. Neighbouring: two federations that
differ in one site (replace one): of every point at most one vote goes from one class to another.

released             costs, by Rényi order α    because
a label              α / σ²                     two counts move by 1, a distance of √2 [Prop. 8]
... where all agree  less [Thm. 6]              another label is improbable: see `data_dependent`
"enough agree"       α / 2σ₁²                   the largest count moves by 1

All this is about what is released: labels, and which points have one. Who sees the counts
themselves is protected from by nothing here.
"""

import math

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp

from colabel.errors import InputError, Problem
from colabel.privacy.accounting import Spent

Floats = NDArray[np.float64]
ORDERS: Floats = np.concatenate(
    [1 + np.arange(1, 100) / 10, np.arange(11.0, 64.0), 2.0 ** np.arange(6, 21)]
)


class Gnmax(msgspec.Struct, frozen=True, kw_only=True):
    """noise: σ of every count.

    threshold: only points whose largest count, under noise of its own (threshold_noise, σ₁), is
    as large as this get a label (Confident-GNMax); None: all.
    most_answers: only the first so many of these points; 0: all.
    """

    noise: float
    threshold: float | None = None
    threshold_noise: float = 0.0
    most_answers: int = 0
    delta: float = 1e-5

    def problems(self) -> list[Problem]:
        """Everything that is wrong with these settings."""
        checked = self.threshold is not None
        fix = "Give the σ of the check against the threshold, if there is one."
        wrong = (
            (not 0 < self.noise < math.inf, f"noise is {self.noise}", "Give a number above 0."),
            (checked != (self.threshold_noise > 0), f"its noise is {self.threshold_noise}", fix),
            (self.most_answers < 0, f"most_answers is {self.most_answers}", "Give 0 or more."),
            (not 0 < self.delta < 1, f"delta is {self.delta}", "Give one well below 1 / sites."),
        )
        return [Problem(f"GNMax: {what}", fix) for bad, what, fix in wrong if bad]

    def named(self) -> str:
        """For the ledger."""
        if self.threshold is None:
            return f"GNMax, σ = {self.noise:g}"
        check = f"from {self.threshold:g} votes on, σ = {self.threshold_noise:g}"
        return f"Confident-GNMax, σ = {self.noise:g}; {check}"

    def answers(self, n_points: int) -> int:
        """How many labels there are at most."""
        return min(self.most_answers or n_points, n_points)


def spent(plan: Gnmax, n_points: int) -> Spent:
    """What a run spends at most, whatever the data are: the guarantee.

    How many points get a label is known only afterwards, and depends on the data: so all that may
    get one count.
    """
    each = ORDERS / plan.noise**2  # [Prop. 8]
    return converted(_checks(plan, n_points) + plan.answers(n_points) * each, plan.delta)


def spent_with(plan: Gnmax, counts: NDArray[np.number]) -> Spent:
    """What it spends with these counts. NOT a guarantee, and not to be shown to anybody.

    It bounds how much more probable the labels are made by the data at hand, not how much less;
    and it depends on the votes without noise. [PATE §B] smooths it before it is published.
    """
    costs = np.sort(data_dependent(counts, plan.noise), axis=0)
    dearest = costs[len(costs) - plan.answers(len(costs)) :].sum(axis=0)
    return converted(_checks(plan, len(counts)) + dearest, plan.delta)


def _checks(plan: Gnmax, n_points: int) -> Floats:
    if plan.threshold is None:
        return np.zeros_like(ORDERS)
    return n_points * ORDERS / (2 * plan.threshold_noise**2)


def data_dependent(
    counts: NDArray[np.number], noise: float, orders: Floats = ORDERS
) -> NDArray[np.float64]:
    """Points × orders: what a label costs, given the counts; α/σ² where Theorem 6 says no more."""
    log_q = log_other(counts, noise)[:, None]
    mu_2 = noise * np.sqrt(-log_q)  # [Prop. 10]
    mu_1 = mu_2 + 1
    epsilon_1, epsilon_2 = mu_1 / noise**2, mu_2 / noise**2
    flat = np.broadcast_to(orders / noise**2, (len(counts), len(orders)))
    with np.errstate(divide="ignore", invalid="ignore"):  # where the theorem does not apply
        rises = (mu_2 - 1) * epsilon_2 - mu_2 * (np.log(mu_1 / (mu_1 - 1) * mu_2 / (mu_2 - 1)))
        applies = (mu_2 > 1) & (orders <= mu_1) & (log_q + epsilon_2 < 0) & (log_q <= rises)
        log_a = _log_1_minus(log_q) - _log_1_minus((log_q + epsilon_2) * (1 - 1 / mu_2))
        log_b = epsilon_1 - log_q / (mu_1 - 1)
        both = np.logaddexp(
            _log_1_minus(log_q) + (orders - 1) * log_a, log_q + (orders - 1) * log_b
        )
        bound = np.where(applies, np.maximum(both / (orders - 1), 0.0), np.inf)
    return np.minimum(flat, bound)


def log_other(counts: NDArray[np.number], noise: float) -> Floats:
    """log q: at most so probable is a label other than that of most votes [Prop. 7]."""
    gaps = counts.max(axis=1, keepdims=True) - counts
    logs = log_ndtr(-gaps / (math.sqrt(2) * noise))  # of the difference of two noises
    logs[np.arange(len(counts)), counts.argmax(axis=1)] = -np.inf
    # of C classes the one with most votes leads with a chance of 1/C or more
    most = math.log1p(-1 / counts.shape[1])
    return np.minimum(logsumexp(logs, axis=1), most)


def converted(rdp: Floats, delta: float) -> Spent:
    """(ε, δ) of a cost for each of ORDERS [Canonne, Kamath and Steinke 2020, Prop. 12]."""
    if not 0 < delta < 1:
        raise InputError(Problem(f"delta is {delta!r}", "Give a number between 0 and 1."))
    found = rdp + np.log1p(-1 / ORDERS) - np.log(delta * ORDERS) / (ORDERS - 1)
    return Spent(max(float(found.min()), 0.0), delta)


def _log_1_minus(logs: Floats) -> Floats:
    """log(1 − e^x), for x < 0."""
    return np.where(logs < -1, np.log1p(-np.exp(logs)), np.log(-np.expm1(logs)))
