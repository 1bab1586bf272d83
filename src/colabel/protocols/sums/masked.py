"""Sums of which the server sees nothing but the total, if that [XCLP §3.2, SecureRowSums].

step           message                  bytes up per site        who learns what
<name>         Contribute → Hidden      8 · rows of the others   server: uniform numbers
<name>.unmask  Unmask → Revealed        33 · sites               server: what hid the total; of rows
                                                                 and shared totals, still nothing
<name>.back    Deliver → Done           0                        sites: (their part of) the total
renew …        only if too few sites are left to finish the sum: fresh keys, and once more

Server alone: for `public` the total, otherwise nothing. One site: its part of the total. Server
with a site: for `rows` and `shared` also that site's part of the total. Server with more than
half of the sites: everything.

What nobody can see: a site that sends a false number, or a false share, spoils the total; a server
that says falsely that sites were lost, and starts a public sum again, gets one of fewer sites.

A site lost before its summand arrived contributes nothing and receives no rows; what it shared of
its mask key takes its masks out of the others' sum. A site lost after that changes nothing for
the others. Are fewer than half left, the sum starts again among those [XCLP §3.3, Robustness].
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np

from colabel.conversation import Ask, Conversation, Message, Release
from colabel.crypto import agreement, shamir
from colabel.errors import RemoteProtocolError, SitesLost
from colabel.protocols.keys import Renew, Welcome, check_welcome
from colabel.protocols.meeting import Register, meeting
from colabel.protocols.replies import expect, refuse
from colabel.protocols.sums.base import Mode, Terms, spans
from colabel.protocols.sums.clear import ClearSums, Collected, add_up, ask_all
from colabel.protocols.sums.fixed_point import Ring
from colabel.protocols.sums.site import Revealed, Unmask, own_mask, pair_mask


class MaskedSums(ClearSums):
    """The server's side, for the sites that met."""

    protects: ClassVar[str] = "masked"

    def __init__(self, register: Register) -> None:
        self.register = register
        self._next = 0

    def _collect(
        self,
        step: str,
        what: str,
        requests: Mapping[str, Message],
        mode: Mode,
        form: str,
        owners: Mapping[str, int],
    ) -> Conversation[Collected]:
        members = [name for name in requests if name in self.register.joined]
        while True:
            members = yield from self._ready(members)
            slot, self._next = self._next, self._next + 1
            terms = Terms(step, mode, form, slot, tuple(members), dict(owners))
            release = Release(f"each site's {what}", "server", self.protects)
            hidden = yield from ask_all(step, terms, requests, release)
            came = tuple(hidden)
            if mode == "public" and len(came) < 2:
                raise SitesLost(f"one site is left in the step {step!r}: its sum would be its data")
            asked = came if len(came) >= self.register.threshold else ()
            shares = yield from self._shares(step, terms, asked, came, _totals(what, mode))
            if len(shares) >= self.register.threshold:
                ring = add_up(terms, hidden)
                self._take_off(terms, came, shares, ring)
                return Collected(terms, came, ring)
            if asked and not shares:
                raise SitesLost(f"no site is left: none answered in the step '{step}.unmask'")
            members = list(shares if asked else came)  # fewer than before, so this ends

    def _ready(self, members: list[str]) -> Conversation[list[str]]:
        """The members, under masks that are fresh and that they can finish with."""
        n_masks = len(next(iter(self.register.masks.values()), ()))
        if self._next < n_masks and len(members) >= self.register.threshold:
            return members
        welcomes = yield Ask("renew", dict.fromkeys(members, Renew(self.register.epoch + 1, 1)))
        if not welcomes:
            raise SitesLost("no site is left: none answered while keys were renewed")
        found = expect(welcomes, "renew", Welcome)
        for name, welcome in found.items():
            check_welcome(name, "renew", welcome, self.register.epoch + 1, 1)
        fresh = {name: found[name] for name in members if name in found}
        self.register = yield from meeting(fresh)
        self._next = 0
        return [name for name in members if name in self.register.joined]

    def _shares(
        self,
        step: str,
        terms: Terms,
        asked: Iterable[str],
        came: tuple[str, ...],
        releases: tuple[Release, ...],
    ) -> Conversation[dict[str, Revealed]]:
        messages = dict.fromkeys(asked, Unmask(terms, came))
        replies = (yield Ask(f"{step}.unmask", messages, releases)) if messages else {}
        shares = expect(replies, f"{step}.unmask", Revealed)
        for name, held in shares.items():
            self._check_shares(name, step, held, set(came), set(terms.members) - set(came))
        return shares

    def _check_shares(
        self, name: str, step: str, held: Revealed, came: set[str], lost: set[str]
    ) -> None:
        """Whether one share of everybody is there; which number it is, nobody can check."""
        shares = [*held.own_seeds.values(), *held.mask_keys.values()]
        right = all(shamir.possible(share) for share in shares)
        if not right or set(held.own_seeds) != came or set(held.mask_keys) != lost:
            got = f"{len(held.own_seeds)} and {len(held.mask_keys)} shares"
            expected = f"a share of {len(came)} own seeds and of {len(lost)} mask keys"
            refuse(name, f"{step}.unmask", expected, got, "not the shares")

    def _take_off(
        self, terms: Terms, came: tuple[str, ...], shares: Mapping[str, Revealed], ring: Ring
    ) -> None:
        """Take the own masks of those who came off the sum, and the lost ones' pair masks."""
        where = spans(terms.blocks)
        for name in came:
            seed = self._joined({k: v.own_seeds.get(name) for k, v in shares.items()}, name)
            mask = own_mask(seed, terms).like(ring)
            for owner, at in where.items():
                if not terms.sends(name, owner):
                    mask[at] = 0
            ring -= mask
        for lost in set(terms.members) - set(came):
            key = self._joined({k: v.mask_keys.get(lost) for k, v in shares.items()}, lost)
            if agreement.public_of(key) != self.register.masks[lost][terms.slot]:
                raise _bad_shares(lost, "a share of another key")
            for name in came:
                mask = pair_mask(key, self.register.masks[name][terms.slot], terms).like(ring)
                for owner in (name, lost):
                    mask[where.get(owner, slice(0, 0))] = 0
                np.subtract(ring, mask, out=ring) if name < lost else np.add(ring, mask, out=ring)

    def _joined(self, shares: Mapping[str, bytes | None], name: str) -> bytes:
        number = {holder: place + 1 for place, holder in enumerate(self.register.met)}
        known = {number[holder]: share for holder, share in shares.items() if share is not None}
        if len(known) < self.register.threshold:
            raise _bad_shares(name, f"{len(known)} shares")
        try:
            return shamir.join(dict(list(known.items())[: self.register.threshold]))
        except ValueError as error:
            raise _bad_shares(name, str(error)) from None


def _totals(what: str, mode: Mode) -> tuple[Release, ...]:
    return () if mode != "public" else (total_for_server(what),)


def total_for_server(what: str) -> Release:
    """What `public` is for."""
    return Release(f"the sum of all sites' {what}", "server", MaskedSums.protects)


def _bad_shares(name: str, got: str) -> RemoteProtocolError:
    return RemoteProtocolError(
        "shares do not give the secret",
        site=name,
        step="unmask",
        expected="enough that fit",
        got=got,
    )
