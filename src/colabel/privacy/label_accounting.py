"""How much differential privacy released labels spend, and whether they are still worth learning.

Unit: a record or a whole site. Neighbouring: two federations of which one differs in one unit
(replace one). Then at most `sensitivity` labels of one site change in a round, given everything
that was released before; all other sites' labels follow from what was released.

What a round tells of a unit is so many pieces, each with two answers whose chances differ by a
factor of at most e^u: noisy labels; bits, two for a label; or counts, two for a label. Rounds and
pieces compose adaptively: simply (ε adds up), or by their privacy loss distributions for a δ.
"""

import math
from typing import Literal, NamedTuple, get_args

import msgspec
from scipy.special import expit

from colabel.errors import InputError, Problem, did_you_mean
from colabel.features.optional import require
from colabel.privacy.mechanisms import randomised_response, vote_noise, xor
from colabel.privacy.theory import Estimate as Estimate
from colabel.privacy.theory import estimate_sensitivity as estimate_sensitivity

Mechanism = Literal["xor", "response", "counts"]
Unit = Literal["record", "site"]
Rule = Literal["exact", "corollary"]

NAMES = {
    "xor": "XOR mechanism",
    "response": "randomised response",
    "counts": "noise in the counts",
}
NOISE, ALMOST = 0.01, 0.05  # above chance
_AT_ONCE = 4096
_WORTH_DELTA = 0.99  # a guarantee without δ is better than one slightly smaller with δ


class LabelPrivacy(msgspec.Struct, frozen=True, kw_only=True):
    """What is done to labels before they leave a site.

    epsilon: per round, for the unit.
    sensitivity: how many labels of one site can change with one unit, "worst": all of them.
    estimated: whether that number was measured, by training on some neighbouring data: then ε is
    no guarantee.
    rule: how often "xor" flips bits: so that a round costs exactly ε, or as [FedCT Cor. 1] asks,
    which costs ε/√C.
    abstaining: whether an abstention is one of the answers of "response". (With the others
    abstentions are hidden anyway.)
    """

    mechanism: Mechanism
    epsilon: float
    unit: Unit = "record"
    sensitivity: int | Literal["worst"] = "worst"
    estimated: bool = False
    rule: Rule = "exact"
    abstaining: bool = False

    def problems(self) -> list[Problem]:
        """Everything that is wrong with these settings."""
        found = []

        def need(good: bool, what: str, fix: str) -> None:
            if not good:
                found.append(Problem(what, fix))

        for name, value, known in (
            ("mechanism", self.mechanism, get_args(Mechanism)),
            ("unit", self.unit, get_args(Unit)),
            ("rule", self.rule, get_args(Rule)),
        ):
            need(value in known, f"{name} is {value!r}", did_you_mean(str(value), known))
        good = 0 < self.epsilon < math.inf
        need(good, f"ε per round is {self.epsilon!r}", "Give a number above 0.")
        worst = self.sensitivity == "worst"
        good = worst or (isinstance(self.sensitivity, int) and self.sensitivity >= 1)
        need(good, f"sensitivity is {self.sensitivity!r}", 'Give 1 or more labels, or "worst".')
        good = worst or self.unit != "site"
        need(good, "a site with other data can change all labels", 'Give sensitivity = "worst".')
        good = not (worst and self.estimated)
        need(good, "the worst case is nothing that was estimated", "Give estimated = False.")
        good = self.rule == "exact" or self.mechanism == "xor"
        need(good, "the rule of Corollary 1 is for xor only", 'Give rule = "exact".')
        good = not self.abstaining or self.mechanism == "response"
        need(good, "abstaining is for response only", "Give abstaining = False.")
        return found

    def named(self) -> str:
        """For the ledger."""
        estimate = ", by an estimated sensitivity" if self.estimated else ""
        return f"{NAMES[self.mechanism]}, ε = {self.epsilon:g} a round for a {self.unit}{estimate}"


class Spent(NamedTuple):
    """(ε, δ)-differential privacy of all rounds, by the way that gives the smaller ε."""

    epsilon: float
    delta: float
    by: str
    simple: float

    def __str__(self) -> str:
        at = f" at δ = {self.delta:g}" if self.delta else ""
        also = f"; added up: ε = {self.simple:.3g}" if self.delta else ""
        return f"ε = {self.epsilon:.3g}{at} ({self.by}{also})"


class _Pieces(NamedTuple):
    epsilon: float
    n_answers: int
    times: int


def changed_labels(plan: LabelPrivacy, n_public: int) -> int:
    """How many labels of one site change at most with one unit."""
    return n_public if isinstance(plan.sensitivity, str) else min(plan.sensitivity, n_public)


def per_label(plan: LabelPrivacy, n_public: int) -> float:
    """The ε of one label, for randomised response: as many labels can change."""
    return plan.epsilon / changed_labels(plan, n_public)


def flip_probability_of(plan: LabelPrivacy, n_public: int, n_classes: int) -> float:
    """How often the XOR mechanism flips each bit."""
    return float(expit(-_log_odds(plan, n_public, n_classes)))


def noise_scale(plan: LabelPrivacy, n_public: int) -> float:
    """Of the noise in the counts: a changed label changes two of them by 1."""
    return 2 * changed_labels(plan, n_public) / plan.epsilon


def spent(
    plan: LabelPrivacy, n_public: int, rounds: int, delta: float, n_classes: int = 2
) -> Spent:
    """What so many rounds cost together. Without the number of classes: at most.

    δ = 0 adds up only; any other δ needs the extra "dp".
    """
    _check(plan, n_public, rounds, delta)
    pieces = _pieces(plan, n_public, n_classes)
    n = pieces.times * rounds
    added = Spent(n * pieces.epsilon, 0.0, "added up", n * pieces.epsilon)
    if delta == 0 or n == 0:
        return added
    found = _composed(pieces, n, delta)
    if found > _WORTH_DELTA * added.epsilon:
        return added
    return Spent(found, delta, "privacy loss distributions", added.epsilon)


def survival(plan: LabelPrivacy, n_public: int, n_classes: int, n_sites: int) -> float:
    """The chance that the consensus is right, ties broken at random, if all sites are right."""
    if plan.mechanism == "response":
        epsilon, abstaining = per_label(plan, n_public), plan.abstaining
        return randomised_response.survives(n_classes, epsilon, n_sites, abstaining=abstaining)
    if plan.mechanism == "xor":
        return xor.survives(n_classes, _log_odds(plan, n_public, n_classes), n_sites)
    return vote_noise.survives(n_classes, noise_scale(plan, n_public), n_sites)


def verdict(plan: LabelPrivacy, n_public: int, n_classes: int, n_sites: int) -> str | None:
    """What to warn of, if the consensus is little better than chance."""
    found, chance = survival(plan, n_public, n_classes, n_sites), 1 / n_classes
    if found - chance > ALMOST:
        return None
    what = "noise" if found - chance < NOISE else "almost only noise"
    return (
        f"the labels that are released are {what}: where all {n_sites} sites agree, the consensus "
        f"is right with chance {found:.4f}, and a guess with {chance:.4f}"
    )


def statement(
    plan: LabelPrivacy, n_public: int, n_classes: int, n_sites: int, rounds: int, delta: float
) -> list[str]:
    """What to say before a run, and after one with the rounds that there were."""
    n_labels = changed_labels(plan, n_public)
    source = "a number that was given"
    if plan.sensitivity == "worst":
        source = "the worst case"
    elif plan.estimated:
        source = "an estimate from some neighbouring data: ε is NOT A GUARANTEE"
    total = spent(plan, n_public, rounds, delta, n_classes)
    right = survival(plan, n_public, n_classes, n_sites)
    replaced = "all data" if plan.unit == "site" else "one record"
    lines = [
        f"privacy: {NAMES[plan.mechanism]}, for a {plan.unit}; "
        f"neighbouring: {replaced} of one site replaced",
        f"sensitivity: {n_labels} of {n_public} labels a round ({source})",
        f"noise: {_noise(plan, n_public, n_classes)}",
        f"total: {rounds} rounds of ε = {_of_a_round(plan, n_public, n_classes):.3g}: {total}",
        f"use: where all {n_sites} sites agree, the consensus is right with chance {right:.3f} "
        f"(a guess: {1 / n_classes:.3f})",
    ]
    warning = verdict(plan, n_public, n_classes, n_sites)
    return lines if warning is None else [*lines, f"warning: {warning}"]


def _log_odds(plan: LabelPrivacy, n_public: int, n_classes: int) -> float:
    """Of a bit that stays: ln((1-p)/p)."""
    n_bits = 2 * changed_labels(plan, n_public)
    if plan.rule == "corollary":
        theta = xor.independent_theta(plan.epsilon, n_bits, n_classes)
        return -float(theta[0, 0])
    return plan.epsilon / n_bits


def _pieces(plan: LabelPrivacy, n_public: int, n_classes: int) -> _Pieces:
    n_labels = changed_labels(plan, n_public)
    if plan.mechanism == "response":
        return _Pieces(per_label(plan, n_public), n_classes + plan.abstaining, n_labels)
    if plan.mechanism == "xor":
        return _Pieces(_log_odds(plan, n_public, n_classes), 2, 2 * n_labels)
    # noise in which one step changes every chance by the factor e^(1/scale), up or down
    return _Pieces(1 / noise_scale(plan, n_public), 2, 2 * n_labels)


def _of_a_round(plan: LabelPrivacy, n_public: int, n_classes: int) -> float:
    pieces = _pieces(plan, n_public, n_classes)
    return pieces.times * pieces.epsilon


def _noise(plan: LabelPrivacy, n_public: int, n_classes: int) -> str:
    if plan.mechanism == "response":
        epsilon = per_label(plan, n_public)
        kept = randomised_response.keeps(n_classes, epsilon, abstaining=plan.abstaining)
        return f"ε = {epsilon:.3g} a label, which stays with chance {kept:.4f}"
    if plan.mechanism == "xor":
        return f"a bit flips with chance {flip_probability_of(plan, n_public, n_classes):.6g}"
    return f"discrete Laplace of scale {noise_scale(plan, n_public):.4g} on every sum of votes"


def _composed(pieces: _Pieces, n: int, delta: float) -> float:
    """The ε of n pieces at δ. Their losses are u, 0 or -u, so nothing is rounded on that grid."""
    pmf = require("dp_accounting.pld.pld_pmf", "dp")
    kept = randomised_response.keeps(pieces.n_answers, pieces.epsilon)
    moved = kept * math.exp(-pieces.epsilon)
    chances = {1: kept, 0: max(1 - kept - moved, 0.0), -1: moved}
    one = pmf.create_pmf(chances, pieces.epsilon, 0.0, True)
    # in two steps, since the bounds on what is cut off are loose for very many at once
    block = one.self_compose(min(n, _AT_ONCE))
    whole, rest = divmod(n, min(n, _AT_ONCE))
    found = block.self_compose(whole)
    if rest:
        found = found.compose(one.self_compose(rest).to_dense_pmf())
    return float(found.get_epsilon_for_delta(delta))


def _check(plan: LabelPrivacy, n_public: int, rounds: int, delta: float) -> None:
    found = plan.problems()
    if n_public < 1:
        found.append(Problem(f"there are {n_public} public points", "Give at least 1."))
    if rounds < 0:
        found.append(Problem(f"there are {rounds} rounds", "Give 0 or more."))
    if not 0 <= delta < 1:
        found.append(Problem(f"δ is {delta!r}", "Give 0, or a number below 1."))
    if found:
        raise InputError(found)
