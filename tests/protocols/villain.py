"""A server that does as it likes: it sends any message to any site and keeps every reply."""

import numpy as np
from sessions import Consortium, GiveMatrix

from colabel.protocols.keys import Hello, Renew
from colabel.protocols.meeting import Join, Meet
from colabel.protocols.sums import Contribute
from colabel.protocols.sums.base import Terms
from colabel.protocols.sums.site import Unmask
from colabel.wire import open_envelope, pack, seal_in


class Nothing:
    """A mask that hides nothing."""

    def like(self, ring, start=0):
        return np.zeros_like(ring)


class Villain:
    """`tell` sends; the other methods send what an honest server would."""

    def __init__(self, matrices, identities=None, session="session", n_masks=3):
        self.talk = Consortium(matrices=matrices, identities=identities)
        self.sites, self.session, self.n_masks = self.talk.engine.sessions, session, n_masks
        self.number, self.welcomes, self.boxes = 0, {}, {}

    @property
    def names(self):
        return list(self.sites)

    def tell(self, name, message):
        self.number += 1
        data = seal_in(self.session, self.number, "server", message)
        reply = self.sites[name].receive(data)
        return open_envelope(reply, site=name, step="")[1]

    def hello(self, plan=b"plan"):
        for name in self.names:
            self.welcomes[name] = self.tell(name, Hello(plan, self.n_masks))

    def renew(self, names=None, epoch=1):
        self.welcomes = {name: self.tell(name, Renew(epoch, 1)) for name in names or self.names}

    def meet(self, names=None):
        for name in names or self.names:
            welcomes = {other: self.welcomes[other] for other in names or self.names}
            self.boxes[name] = self.tell(name, Meet(welcomes)).boxes

    def join(self, drawer="site-0", names=None):
        for name in names or self.names:
            self.tell(name, Join(self.for_(name), drawer))

    def for_(self, name):
        """The boxes for a site."""
        return {sender: held[name] for sender, held in self.boxes.items() if name in held}

    def set_up(self):
        self.hello()
        self.meet()
        self.join()
        return self

    def terms(self, mode="public", form="wide", slot=0, members=None, blocks=None, name="sum"):
        return Terms(name, mode, form, slot, tuple(members or self.names), blocks or {})

    def contribute(self, name, terms, number=0):
        return self.tell(name, Contribute("GiveMatrix", pack(GiveMatrix(number)), terms)).ring

    def unmask(self, name, terms, came):
        return self.tell(name, Unmask(terms, tuple(came)))
