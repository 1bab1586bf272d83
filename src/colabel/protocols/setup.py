"""Setting up a session: who takes part, and a seed that the sites share [XCLP Alg. 1, line 1].

Protected, the sites introduce themselves with signed keys (`keys`) and meet (`meeting`): the
server does not learn the seed. Unprotected, for simulation, it does (`clear_seed`).
"""

from collections.abc import Sequence

from colabel.conversation import Conversation, Release
from colabel.errors import SitesLost
from colabel.protocols.clear_seed import share_seed
from colabel.protocols.keys import Group, hello
from colabel.protocols.meeting import meeting
from colabel.protocols.sums import ClearSums, MaskedSums, Sums

PUBLIC_SEED = Release("the seed of the hyperplanes, fixed in the plan", "everyone", "in clear")


def agree(
    names: Sequence[str], plan: bytes, *, n_masks: int, seed_is_public: bool = False
) -> Conversation[tuple[Group, Sums]]:
    """The sites that are there, and how they add up.

    `n_masks`: how many sums are to be protected (−1: nothing is protected).
    `seed_is_public`: the plan holds the seed, for experiments that must be repeatable.
    """
    welcomes = yield from hello(names, plan, n_masks, (PUBLIC_SEED,) if seed_is_public else ())
    if n_masks >= 0:
        register = yield from meeting(welcomes)
        return Group(welcomes).only(register.joined), MaskedSums(register)
    known = list(welcomes) if seed_is_public else (yield from share_seed(list(welcomes)))
    if not known:
        raise SitesLost("no site is left: none answered while the session was set up")
    return Group(welcomes).only(known), ClearSums()
