"""Membership inference: can what a method reveals tell whose points were trained with?

A site's points are *members*, others like them are not. Every method is attacked with everything
that fits what it reveals, within the same number of answers; its vulnerability VUL is the ROC AUC
of the strongest attack [FedCT App. E.1]. What no attack here finds, another one may.
"""

from colabel.privacy.audit.audit import AuditReport, Exposure, MethodAudit, audit
from colabel.privacy.audit.controls import Control, built_in
from colabel.privacy.audit.label_only import LabelAnswers, copies
from colabel.privacy.audit.measures import Candidates, Finding
from colabel.privacy.audit.scores import ScoreAnswers, Shadows, halves
from colabel.privacy.audit.white_box import UpdateAnswers

__all__ = [
    "AuditReport",
    "Candidates",
    "Control",
    "Exposure",
    "Finding",
    "LabelAnswers",
    "MethodAudit",
    "ScoreAnswers",
    "Shadows",
    "UpdateAnswers",
    "audit",
    "built_in",
    "copies",
    "halves",
]
