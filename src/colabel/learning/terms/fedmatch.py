"""FedMatch: disjoint parameters and consistency between clients (Jeong et al. 2021).

The model is θ = σ + ψ. Labels move σ while ψ rests; unlabelled points move ψ while σ rests:

    L_s = λ_s · CE(y, p_θ(x))
    L_u = λ_i / H · Σ_h KL(p_h(u) ‖ p_θ(u)) + λ_a · CE(ŷ(u), p_θ(π(u)))
          + λ_L2 · ‖σ − ψ‖² + λ_L1 · ‖ψ‖₁

over the unlabelled points of which the model is sure. ŷ is the class that the model and its helpers
vote for, π changes a point a little. A helper is σ + ψ of a site whose model answers alike: every
site tells what its model says to the same few random points, and every `interval` rounds each
site is given the ψ of its nearest sites. (The paper lets the server ask the models; the answers
are the same.) Where a site has no labels, σ rests.

Who learns what: server: every site's model, ψ and answers; sites: ψ of their helpers.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
from scipy.spatial import KDTree
from torch import Tensor
from torch.func import functional_call
from torch.nn import functional

from colabel.conversation import Release
from colabel.learning.parameters import Parameters, tensors, trainable
from colabel.learning.terms.base import Active, Shared, Term
from colabel.learning.work import Step, Work, as_input

PSI, ANSWER, HELPER, CLOCK = "psi", "answer", "helper", "clock"
_PROBES = 8  # random points that every model answers to
_PROBE_SEED = 7

Tensors = dict[str, Tensor]


class FedMatch(Term, frozen=True, kw_only=True):
    """The weights are those of the authors for labels at clients.

    psi_share: ψ at the beginning, as a share of the model. pool: of how many sites, those heard
    last, the server remembers ψ.
    """

    uses_unlabelled: ClassVar[bool] = True
    linear: ClassVar[bool] = False
    needs_head: ClassVar[bool] = True
    helpers: int = 2
    interval: int = 10
    confidence: float = 0.75
    supervised: float = 10.0
    between: float = 1e-2
    agreement: float = 1e-2
    l2: float = 10.0
    l1: float = 1e-4
    psi_share: float = 0.2
    pool: int = 100

    def start(self, work: Work) -> Active:
        """Begin a round."""
        return _FedMatch(self, work)

    def releases(self) -> tuple[Release, ...]:
        """ψ and answers go to the server, ψ in later rounds to the sites it helps."""
        return (
            Release(
                "each site's ψ, and its model's answers to random points", "server", "in clear"
            ),
            Release("each site's ψ", "each site", "in clear"),
        )

    def send(self, kept: Shared, site: str) -> Shared:
        """ψ, and those of the helpers chosen last."""
        found = {PSI: kept[PSI]} if PSI in kept else {}
        chosen = [name for name in kept.get(f"{HELPER} {site}", {}) if f"{PSI} {name}" in kept]
        for number, name in enumerate(chosen):
            found[f"{HELPER} {number}"] = kept[f"{PSI} {name}"]
        return found

    def keep_each(self, kept: Shared, returned: Mapping[str, Shared]) -> Shared:
        """The mean of ψ, what each site sent, and from time to time who helps whom."""
        own = [held[PSI] for held in returned.values()]
        mean = {key: np.mean([held[key] for held in own], axis=0) for key in own[0]}
        fresh = dict(kept)
        for site, held in returned.items():
            for what in (PSI, ANSWER):
                fresh.pop(f"{what} {site}", None)  # so that the latest stand last
                fresh[f"{what} {site}"] = held[what]
        answers = [key for key in fresh if key.startswith(f"{ANSWER} ")]
        for key in answers[: -self.pool]:
            site = key.removeprefix(f"{ANSWER} ")
            for what in (PSI, ANSWER, HELPER):
                fresh.pop(f"{what} {site}", None)
        turn = int(kept[CLOCK]["round"][0]) if CLOCK in kept else 0
        if turn % self.interval == 0:
            fresh |= self._choose(fresh)
        clock = {"round": np.array([turn + 1], dtype=np.float32)}
        return {**fresh, PSI: mean, CLOCK: clock}

    def _choose(self, kept: Shared) -> Shared:
        """For every site those whose models answer most alike."""
        answers = {
            key.removeprefix(f"{ANSWER} "): held["answer"].reshape(-1)
            for key, held in kept.items()
            if key.startswith(f"{ANSWER} ")
        }
        names = list(answers)
        tree, wanted = KDTree(np.stack(list(answers.values()))), min(self.helpers + 1, len(names))
        _, near = tree.query(np.stack(list(answers.values())), wanted)
        nothing = np.empty(0, dtype=np.float32)
        return {
            f"{HELPER} {name}": {names[i]: nothing for i in np.atleast_1d(row) if names[i] != name}
            for name, row in zip(names, near, strict=True)
        }


class _FedMatch(Active):
    def __init__(self, term: FedMatch, work: Work) -> None:
        self.term, self.work = term, work
        self.sigma = trainable(work.network)
        begin = {name: held.detach().clone() for name, held in self.sigma.items()}
        if PSI in work.shared:
            self.psi = tensors(work.shared[PSI])
        else:
            self.psi = {name: term.psi_share * held for name, held in begin.items()}
        with torch.no_grad():
            for name, held in self.sigma.items():
                held.copy_(begin[name] - self.psi[name])
        for psi in self.psi.values():
            psi.requires_grad_()
        self.helpers = [
            tensors(held) for name, held in work.shared.items() if name.startswith(HELPER)
        ]

    def moving(self) -> list[Tensor]:
        return list(self.psi.values())

    def loss(self, step: Step) -> Tensor | None:
        total = self._penalty()
        if len(step.unlabelled):
            total = total + self._unlabelled(step.unlabelled.points)
        if len(step.labelled):
            views = self.work.view(step.labelled.points)
            resting = {name: held.detach() for name, held in self.psi.items()}
            logits = self._answer(views, self.sigma, resting)
            total = total + self.term.supervised * functional.cross_entropy(
                logits, step.labelled.labels
            )
        return total

    def _penalty(self) -> Tensor:
        total = torch.zeros(())
        for name, psi in self.psi.items():
            apart = (self.sigma[name].detach() - psi).square().sum()
            total = total + self.term.l2 * apart + self.term.l1 * psi.abs().sum()
        return total

    def _unlabelled(self, points: Tensor) -> Tensor:
        sigma = {name: held.detach() for name, held in self.sigma.items()}
        plain = as_input(points, self.work.model)
        logits = self._answer(plain, sigma, self.psi)
        sure = logits.detach().softmax(dim=1).amax(dim=1) >= self.term.confidence
        if not bool(sure.any()):
            return torch.zeros(())
        own, total = logits[sure].log_softmax(dim=1), torch.zeros(())
        with torch.no_grad():
            self.work.network.eval()  # helpers' answers leave no trace in running statistics
            answers = [
                self._answer(plain[sure], sigma, helper).softmax(dim=1) for helper in self.helpers
            ]
            self.work.network.train()
        for answer in answers:
            kl = functional.kl_div(own, answer, reduction="batchmean")
            total = total + self.term.between / len(answers) * kl
        wanted = vote([own.exp().detach(), *answers])
        changed = self._answer(self.work.view(points[sure]), sigma, self.psi)
        return total + self.term.agreement * functional.cross_entropy(changed, wanted)

    def _answer(self, views: Tensor, sigma: Mapping[str, Tensor], psi: Tensors) -> Tensor:
        joint = {name: held + psi[name] for name, held in sigma.items()}
        logits: Tensor = functional_call(self.work.network, joint, (views,))
        return logits

    def finish(self) -> None:
        with torch.no_grad():
            for name, held in self.sigma.items():
                held.add_(self.psi[name])
        arrays: Parameters = {name: held.detach().numpy() for name, held in self.psi.items()}
        self.work.returned[PSI] = arrays
        self.work.returned[ANSWER] = {"answer": probe(self.work)}


def vote(answers: list[Tensor]) -> Tensor:
    """The class that most of them hold likeliest; among equals the lowest."""
    n_classes = answers[0].shape[1]
    ballots = [functional.one_hot(answer.argmax(dim=1), n_classes) for answer in answers]
    return torch.stack(ballots).sum(dim=0).argmax(dim=1)


def probe(work: Work) -> np.ndarray:
    """What the model says to a few random points, the same at every site."""
    same = torch.Generator().manual_seed(_PROBE_SEED)
    points = torch.randn(_PROBES, *work.model.shape, generator=same)
    work.network.eval()
    with torch.no_grad():
        answer: np.ndarray = work.network(points).numpy()
    work.network.train()
    return answer
