"""The command line: one file per verb. Heavy imports happen inside the verbs."""

from colabel.cli.group import main

__all__ = ["main"]
