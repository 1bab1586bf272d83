"""Co-training by labels on a public set: consensus, packed labels, and what sites learn with."""

from colabel.cotrain.consensus import ConsensusPlan, consensus
from colabel.cotrain.learners import Fitted, Learner
from colabel.cotrain.packing import Packed, pack_labels, unpack_labels

__all__ = [
    "ConsensusPlan",
    "Fitted",
    "Learner",
    "Packed",
    "consensus",
    "pack_labels",
    "unpack_labels",
]
