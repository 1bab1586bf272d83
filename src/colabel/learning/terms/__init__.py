"""The terms of which methods are made."""

from colabel.learning.terms.base import Active, Term
from colabel.learning.terms.cross_entropy import CrossEntropy
from colabel.learning.terms.fedmatch import FedMatch
from colabel.learning.terms.mean_teacher import MeanTeacher
from colabel.learning.terms.prototypes import Prototypes
from colabel.learning.terms.proximal import Proximal
from colabel.learning.terms.scaffold import Scaffold

AnyTerm = CrossEntropy | FedMatch | MeanTeacher | Prototypes | Proximal | Scaffold

__all__ = [
    "Active",
    "AnyTerm",
    "CrossEntropy",
    "FedMatch",
    "MeanTeacher",
    "Prototypes",
    "Proximal",
    "Scaffold",
    "Term",
]
