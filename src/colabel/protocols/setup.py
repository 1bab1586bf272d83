"""Setting up a session: who takes part, and a seed that the sites share [XCLP Alg. 1, line 1].

Protected, the sites introduce themselves with signed keys (`keys`) and meet (`meeting`): the
server does not learn the seed. Unprotected, for simulation, it does (`clear_seed`).
"""

from collections.abc import Sequence

import msgspec

from colabel.conversation import Conversation, Done, Release
from colabel.crypto.agreement import KEY_BYTES
from colabel.crypto.prg import SEED_BYTES
from colabel.errors import SitesLost
from colabel.protocols.channels import OVERHEAD
from colabel.protocols.clear_seed import DrawSeed, Seed, ShareSeed, share_seed
from colabel.protocols.cost import Cost
from colabel.protocols.keys import SIGNATURE_BYTES, Group, Hello, hello
from colabel.protocols.meeting import (
    Boxes,
    Join,
    Meet,
    meeting,
    size_of_boxes,
)
from colabel.protocols.sums import ClearSums, MaskedSums, Sums
from colabel.wire import weigh

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


_SECONDS_OF_PAIR = 6e-4  # two sites check, agree, seal and open


def cost(group: Group, plan: bytes, *, n_masks: int, seed_is_public: bool = False) -> Cost:
    """What `agree` costs for these sites, if none is lost."""
    names = group.names
    key, number = bytes(KEY_BYTES), max(n_masks, 0)
    shown = {
        name: msgspec.structs.replace(
            size, channel=key, masks=(key,) * number, signature=bytes(SIGNATURE_BYTES)
        )
        if n_masks >= 0
        else size
        for name, size in group.sizes.items()
    }
    up = sum(weigh(name, shown[name]) for name in names)
    down = len(names) * weigh("server", Hello(plan, n_masks))
    total = Cost(up, down, 1, 0.0)
    if n_masks < 0:
        return total + _clear_seed(names, seed_is_public)
    box = bytes(OVERHEAD + size_of_boxes(len(names), n_masks))
    boxes = {name: {peer: box for peer in names if peer != name} for name in names}
    up = sum(weigh(name, Boxes(boxes[name])) + weigh(name, Done()) for name in names)
    down = len(names) * weigh("server", Meet(shown))
    down += sum(weigh("server", Join(boxes[name], names[0])) for name in names)
    return total + Cost(up, down, 2, len(names) * (len(names) - 1) * _SECONDS_OF_PAIR)


def _clear_seed(names: Sequence[str], seed_is_public: bool) -> Cost:
    if seed_is_public:
        return Cost(0, 0, 0, 0.0)
    drawer, *others = names
    seed = bytes(SEED_BYTES)
    up = weigh(drawer, Seed(seed)) + sum(weigh(name, Done()) for name in others)
    down = weigh("server", DrawSeed()) + len(others) * weigh("server", ShareSeed(seed))
    return Cost(up, down, 1 + bool(others), 0.0)
