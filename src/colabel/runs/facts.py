"""Facts about the program, the machine and the input that a run should remember.

No name of a user or a machine and no path is among them: a run folder may be passed on.
"""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from colabel.data import Sites
from colabel.federation.site import fingerprint
from colabel.machine import n_threads

_PACKAGES = ("colabel", "numpy", "scipy", "scikit-learn", "numba", "pyarrow", "msgspec")


def environment() -> tuple[dict[str, str], dict[str, str | int]]:
    """The versions of what computes, and the machine it computes on."""
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        if (found := installed(package)) is not None:
            versions[package] = found
    machine: dict[str, str | int] = {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "threads used": n_threads(),
    }
    return versions, machine


def installed(package: str) -> str | None:
    """The version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def fingerprints(sites: Sites) -> dict[str, str]:
    """A hash of each site's points and labels, by the site's name."""
    return {site.name: fingerprint(site) for site in sites.sites}


def _cpu_model() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
