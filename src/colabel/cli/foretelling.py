"""What is said before long work, for labelling and for training."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from colabel.cli.screen import Screen

if TYPE_CHECKING:
    from colabel.conversation import Release


def show_releases(screen: Screen, releases: "Sequence[Release]") -> None:
    """Who will learn what, a line for each, on stderr."""
    from colabel.report import words

    for who in dict.fromkeys(release.to for release in releases):
        told = [f"{one.what} ({one.mechanism})" for one in releases if one.to == who]
        screen.errors.print(f"Will go to {words.party(who)}: {'; '.join(told)}.", soft_wrap=True)
