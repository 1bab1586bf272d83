"""Public data sets, by name, from a folder that the user names; none comes with colabel."""

from colabel.data.benchmarks.benchmark import Benchmark, Metric
from colabel.data.benchmarks.registry import BENCHMARKS, describe, load

__all__ = ["BENCHMARKS", "Benchmark", "Metric", "describe", "load"]
