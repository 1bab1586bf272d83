"""The files of a consortium: each site's secret key, and the roster that all sites hold."""

from colabel.consortium.keyfile import create_key, read_key
from colabel.consortium.roster import fingerprint, read_roster

__all__ = ["create_key", "fingerprint", "read_key", "read_roster"]
