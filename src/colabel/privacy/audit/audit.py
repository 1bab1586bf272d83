"""The audit: every attack that fits, on every method, within one budget; and its controls."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from colabel.errors import InputError, Problem
from colabel.privacy.audit import label_only, scores, white_box
from colabel.privacy.audit.budget import equal_budget
from colabel.privacy.audit.controls import FOUND, Answers, Control, blind, built_in, passed, some
from colabel.privacy.audit.label_only import LabelAnswers
from colabel.privacy.audit.measures import (
    RATES,
    Attempt,
    Candidates,
    Finding,
    Labels,
    Roc,
    curve,
    judge,
    others_needed,
)
from colabel.privacy.audit.scores import ScoreAnswers

LEVEL = 0.95
SURE = 0.99  # a control is to fail by chance once in a hundred times, not in twenty


@dataclass(frozen=True)
class Exposure:
    """All that a method shows an attacker about the candidates, in one or several kinds."""

    method: str
    answers: tuple[Answers, ...]

    @property
    def most(self) -> int:
        """How many answers it gives about a candidate, of the kind that gives most."""
        return max((each.most for each in self.answers), default=0)


class MethodAudit(msgspec.Struct, frozen=True):
    """The attacks on a method; the strongest first, with its ROC curve."""

    method: str
    findings: list[Finding]
    roc: Roc

    @property
    def strongest(self) -> Finding:
        """The attack whose AUC is the method's VUL."""
        return self.findings[0]


class ControlAudit(msgspec.Struct, frozen=True):
    """What the attacks found in a control (positive, negative or blind), and why it failed."""

    kind: str
    findings: list[Finding]
    failed: list[str]

    @property
    def worst(self) -> list[Finding]:
        """The attack that came nearest to failing it, if there was one."""
        if self.kind == "positive":
            return sorted(self.findings, key=lambda finding: finding.auc)[:1]
        return sorted(self.findings, key=lambda finding: -abs(finding.auc - 0.5))[:1]


class AuditReport(msgspec.Struct, frozen=True):
    """Intervals are simultaneous: they hold for all attacks on one method together.

    budget: answers about each candidate. invalid: why the numbers mean nothing; empty if they do.
    """

    budget: int
    methods: list[MethodAudit]
    controls: list[ControlAudit]
    valid: bool
    invalid: list[str]

    def table(self, *, every: bool = False) -> str:
        """As Markdown: each method's strongest attack, each control's worst; or every attack."""
        rates = [f"members found at {100 * rate:g} % false alarms" for rate in RATES]
        head = ["", "reveals", "attack", "VUL (AUC)", f"{100 * LEVEL:g} %", *rates, "answers"]
        lines = [head, ["---"] * len(head)]
        for one in self.methods:
            shown = one.findings if every else one.findings[:1]
            lines += [_row(one.method, finding) for finding in shown]
        for control in self.controls:
            shown = control.findings if every else control.worst
            lines += [_row(f"{control.kind} control", finding) for finding in shown]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        if self.valid:
            return f"{text}\n\nAll controls passed."
        return f"{text}\n\n**Invalid**: {'; '.join(self.invalid)}."


def audit(
    candidates: Candidates,
    exposures: Sequence[Exposure],
    *,
    budget: int | None = None,
    controls: Sequence[Control] | None = None,
    seed: int = 0,
) -> AuditReport:
    """Attack every method with the same number of answers, and check the attacks by controls.

    budget: answers about each candidate; as many as all methods give, if None.
    controls: those of `built_in`, if None.
    """
    _check(candidates, exposures)
    answers = equal_budget({each.method: each.most for each in exposures}, budget)
    methods = [_attack(each, candidates, answers, seed) for each in exposures]
    used = {_kind(finding) for one in methods for finding in one.findings}
    if controls is None:
        shown = [each for exposure in exposures for each in exposure.answers]
        controls = built_in(candidates, shown, answers, seed)
    checked = [_control(each, used, answers, seed) for each in controls]
    few = some(candidates, seed)
    checked.append(_checked("blind", [blind(few, seed)], few, seed))
    invalid = [reason for each in checked for reason in each.failed]
    for kind in ("positive", "negative"):
        tried = {_kind(f) for each in checked if each.kind == kind for f in each.findings}
        invalid += [f"{a} on {e} had no {kind} control" for a, e in sorted(used - tried)]
    return AuditReport(answers, methods, checked, not invalid, invalid)


def attempts(answers: Answers, labels: Labels, budget: int) -> list[Attempt]:
    """Every attack that fits what was answered. labels: the true ones."""
    if isinstance(answers, LabelAnswers):
        return list(label_only.attempts(answers, labels, budget))
    if isinstance(answers, ScoreAnswers):
        return list(scores.attempts(answers, labels, budget))
    return list(white_box.attempts(answers, budget))


def _attack(exposure: Exposure, candidates: Candidates, budget: int, seed: int) -> MethodAudit:
    made = [one for each in exposure.answers for one in attempts(each, candidates.labels, budget)]
    judged = _judge(made, candidates, LEVEL, seed)
    order = sorted(range(len(made)), key=lambda i: -judged[i].auc)
    roc = curve(made[order[0]].scores, candidates.member)
    return MethodAudit(exposure.method, [judged[i] for i in order], roc)


def _judge(
    made: Sequence[Attempt], candidates: Candidates, level: float, seed: int
) -> list[Finding]:
    each_level = 1 - (1 - level) / max(len(made), 1)  # the strongest is chosen after the fact
    return [judge(each, candidates.member, level=each_level, seed=seed) for each in made]


def _control(control: Control, used: set[tuple[str, str]], budget: int, seed: int) -> ControlAudit:
    labels = control.candidates.labels
    made = [one for each in control.answers for one in attempts(each, labels, budget)]
    made = [each for each in made if (each.attack, each.exposes) in used]
    kind = "positive" if control.positive else "negative"
    return _checked(kind, made, control.candidates, seed)


def _checked(kind: str, made: Sequence[Attempt], candidates: Candidates, seed: int) -> ControlAudit:
    findings, positive = _judge(made, candidates, SURE, seed), kind == "positive"
    wanted = f"did not reach {FOUND}" if positive else "tells members apart where it cannot"
    failed = [
        f"{finding.attack} on {finding.exposes} {wanted} (AUC {finding.auc:.3f})"
        for finding in findings
        if not passed(finding, positive=positive)
    ]
    return ControlAudit(kind, findings, failed)


def _kind(finding: Finding) -> tuple[str, str]:
    return finding.attack, finding.exposes


def _check(candidates: Candidates, exposures: Sequence[Exposure]) -> None:
    wrong = [
        Problem(
            f"{each.method} answers about {part.n_candidates} candidates of {len(candidates)}",
            "Ask every method about the same candidates, in the same order.",
        )
        for each in exposures
        for part in each.answers
        if part.n_candidates != len(candidates)
    ]
    wrong += [
        Problem(f"{each.method} reveals nothing", "Leave it out: its VUL is 0.5.")
        for each in exposures
        if not each.answers
    ]
    names = [each.method for each in exposures]
    if len({*names}) < len(names):
        wrong.append(Problem("two methods of one name", "Give each its own."))
    if wrong:
        raise InputError(wrong)


def _row(name: str, finding: Finding) -> list[str]:
    found = [
        f"needs {others_needed(rate):,} non-members" if tpr is None else f"{100 * tpr:.1f} %"
        for rate, tpr in finding.tpr.items()
    ]
    between = f"{finding.low:.3f} to {finding.high:.3f}"
    kind = [finding.exposes, finding.attack, f"{finding.auc:.3f}", between]
    return [name, *kind, *found, str(finding.queries)]
