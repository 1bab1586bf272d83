"""Which messages a site answers in a co-training session. Models are the desk's business."""

from typing import NoReturn

from colabel.conversation import Message
from colabel.federation import own_cotraining, roles
from colabel.federation.own_cotraining import DeskOf
from colabel.federation.site import Handler, Role, SiteSession
from colabel.protocols import keys


def cotraining_role(desk_of: DeskOf) -> Role:
    """A site that labels public points. Nobody compares its own points with anybody's."""
    handlers: dict[type[Message], Handler] = {
        **roles.SETUP,
        **roles.SUMS,
        keys.Hello: own_cotraining.welcome(desk_of),
        own_cotraining.LabelPublic: own_cotraining.label_public(desk_of),
        own_cotraining.LabelAgain: own_cotraining.label_public(desk_of),
        own_cotraining.Finish: own_cotraining.finish(desk_of),
    }
    return Role(handlers, _never, _never)


def _never(session: SiteSession) -> NoReturn:
    session.refuse("not a labelling session", "labels of public points", "own points or codes")
