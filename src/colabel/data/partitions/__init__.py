"""Ways to deal one data set to sites: each a frozen dataclass with `deal` and `spec`."""

from colabel.data.partitions.class_ratios import ClassRatios, class_ratios
from colabel.data.partitions.classes_per_site import ClassesPerSite
from colabel.data.partitions.dirichlet import Dirichlet
from colabel.data.partitions.iid import Iid
from colabel.data.partitions.natural import Natural
from colabel.data.partitions.parse import PARTITION_SPECS, parse_partition
from colabel.data.partitions.partition import Partition
from colabel.data.partitions.quantity_skew import QuantitySkew
from colabel.data.partitions.separately import deal_separately

__all__ = [
    "PARTITION_SPECS",
    "ClassRatios",
    "ClassesPerSite",
    "Dirichlet",
    "Iid",
    "Natural",
    "Partition",
    "QuantitySkew",
    "class_ratios",
    "deal_separately",
    "parse_partition",
]
