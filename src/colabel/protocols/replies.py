"""What the server checks in all replies: whatever a protocol does not send is refused by name."""

from typing import NoReturn, TypeVar

from colabel.conversation import Message, Replies
from colabel.errors import RemoteProtocolError

Reply = TypeVar("Reply", bound=Message)


def refuse(site: str, step: str, expected: str, got: str, rule: str = "not an answer") -> NoReturn:
    """Blame a site for a reply that does not belong here."""
    raise RemoteProtocolError(rule, site=site, step=step, expected=expected, got=got)


def expect(replies: Replies, step: str, kind: type[Reply]) -> dict[str, Reply]:
    """The replies, all of the kind that this step has."""
    found = {}
    for name, reply in replies.items():
        if not isinstance(reply, kind):
            refuse(name, step, kind.__name__, type(reply).__name__)
        found[name] = reply
    return found
