"""The terms of which methods are made."""

from colabel.learning.terms.base import Active, Term
from colabel.learning.terms.cross_entropy import CrossEntropy
from colabel.learning.terms.fedmatch import FedMatch
from colabel.learning.terms.fixmatch import FixMatch
from colabel.learning.terms.fixmix import FixMix
from colabel.learning.terms.mean_teacher import MeanTeacher
from colabel.learning.terms.mixmatch import MixMatch
from colabel.learning.terms.prototypes import Prototypes
from colabel.learning.terms.proximal import Proximal
from colabel.learning.terms.scaffold import Scaffold
from colabel.learning.terms.siamese import Siamese

AnyTerm = (
    CrossEntropy
    | FedMatch
    | FixMatch
    | FixMix
    | MeanTeacher
    | MixMatch
    | Prototypes
    | Proximal
    | Scaffold
    | Siamese
)

__all__ = [
    "Active",
    "AnyTerm",
    "CrossEntropy",
    "FedMatch",
    "FixMatch",
    "FixMix",
    "MeanTeacher",
    "MixMatch",
    "Prototypes",
    "Proximal",
    "Scaffold",
    "Siamese",
    "Term",
]
