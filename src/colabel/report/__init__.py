"""The report: measures of a run, kept as data (`Results`) and shown as one HTML file.

jobs → summary → Results (results.json) → page → report.html
"""

from colabel.report.results import ACROSS, ALONE, POOLED, Results, Score
from colabel.report.scoring import repeat, score_sites
from colabel.report.summary import Compared, summarise
from colabel.report.writing import write_report

__all__ = [
    "ACROSS",
    "ALONE",
    "POOLED",
    "Compared",
    "Results",
    "Score",
    "repeat",
    "score_sites",
    "summarise",
    "write_report",
]
