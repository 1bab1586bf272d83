"""One round at one site: from the server's model to the site's own [XCLP Alg. 2, line 8]."""

from collections.abc import Sequence

import torch
from torch import Tensor

from colabel.errors import InputError, Problem
from colabel.learning.descent import Descent, Mover
from colabel.learning.models.network import Network
from colabel.learning.plan import OptimiserPlan
from colabel.learning.terms.base import Term
from colabel.learning.threads import enough_threads
from colabel.learning.work import Work, batches


def update(work: Work, terms: Sequence[Term]) -> float:
    """Train the network in place; the mean loss of the round.

    Everything random comes from the work's generator, so a round can be repeated to the bit.
    """
    network = work.network
    network.train()
    pseudo = bool((work.targets.labels[~work.labelled] >= 0).any())
    use_unlabelled = pseudo or any(term.uses_unlabelled for term in terms)
    active = [term.start(work) for term in terms]
    others = [held for part in active for held in part.moving()]
    mover = optimiser(network, work.plan.optimiser, work.rate, others)
    losses: list[Tensor] = []
    # dropout draws from the global generator
    with torch.random.fork_rng(devices=[]), enough_threads(work.model, 2 * work.batch):
        # of the CPU's alone: torch.manual_seed asks for every other device, which takes longer
        torch.default_generator.manual_seed(int(torch.randint(2**62, (), generator=work.generator)))
        own = [steps for part in active if (steps := part.own_steps()) is not None]
        for step in own[0] if own else batches(work, use_unlabelled=use_unlabelled):
            parts = [part.loss(step) for part in active]
            known = [part for part in parts if part is not None]
            loss = sum(known[1:], known[0]) if known else None
            if loss is None or not loss.requires_grad:
                continue  # nothing in this batch has a label or a target
            mover.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            mover.step()
            losses.append(loss.detach())
            for part in active:
                part.after_step()
    for part in active:
        part.finish()
    return float(torch.stack(losses).mean()) if losses else 0.0


def optimiser(
    network: Network, plan: OptimiserPlan, rate: float, others: Sequence[Tensor] = ()
) -> Mover:
    """A fresh one for every round: its state does not travel."""
    moving = [*(held for held in network.parameters() if held.requires_grad), *others]
    decay = plan.weight_decay
    if plan.name == "sgd":
        return Descent(moving, rate, momentum=plan.momentum, decay=decay)
    if plan.name == "rmsprop":  # with the constants of Keras, as in ProtoFSSL's experiments
        return torch.optim.RMSprop(moving, rate, alpha=0.9, eps=1e-7, weight_decay=decay)
    if plan.name == "adam":
        return torch.optim.Adam(moving, rate, weight_decay=decay)
    raise InputError(
        Problem(f"there is no optimiser called {plan.name!r}", "Known: sgd, rmsprop, adam.")
    )
