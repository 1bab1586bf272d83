"""The sites and their data: read, checked, dealt, masked and recorded.

Files become `Sites` through `read_sites`; a public data set becomes `Sites` through a `Partition`
(who holds which rows) and a `LabelMask` (who sees which labels), both kept in a `Split`.
"""

from colabel.data.benchmarks import BENCHMARKS, Benchmark, describe, load
from colabel.data.checks import check_sites
from colabel.data.files import write_atomically
from colabel.data.lazy import LazyPoints
from colabel.data.masks import LabelMask
from colabel.data.notes import Note, notes_on, severity
from colabel.data.partitions import (
    PARTITION_SPECS,
    ClassesPerSite,
    ClassRatios,
    Dirichlet,
    Iid,
    Natural,
    Partition,
    QuantitySkew,
    deal_separately,
    parse_partition,
)
from colabel.data.site import UNLABELLED, Site, Sites, from_groups
from colabel.data.sources import Diagnosis, diagnose, read_sites
from colabel.data.splits import (
    Split,
    apply_split,
    fingerprint,
    make_split,
    read_split,
    write_split,
)

__all__ = [
    "BENCHMARKS",
    "PARTITION_SPECS",
    "UNLABELLED",
    "Benchmark",
    "ClassRatios",
    "ClassesPerSite",
    "Diagnosis",
    "Dirichlet",
    "Iid",
    "LabelMask",
    "LazyPoints",
    "Natural",
    "Note",
    "Partition",
    "QuantitySkew",
    "Site",
    "Sites",
    "Split",
    "apply_split",
    "check_sites",
    "deal_separately",
    "describe",
    "diagnose",
    "fingerprint",
    "from_groups",
    "load",
    "make_split",
    "notes_on",
    "parse_partition",
    "read_sites",
    "read_split",
    "severity",
    "write_atomically",
    "write_split",
]
