"""Read sites from files: CSV, TSV, Parquet, NPZ and NPY.

`read_sites` gives the sites or an `InputError` with every problem; `diagnose` gives the problems
and the notes without raising.
"""

from colabel.data.sources.reading import Diagnosis, diagnose, read_sites

__all__ = ["Diagnosis", "diagnose", "read_sites"]
