"""GPT-2 with a linear head on the last token [FedCT App. D.2, table 17].

A point is a text as tokens: a row of whole numbers, after whose end come −1 (`learning.language`
makes them). On the way networks get floats, which hold them exactly; leave a plan's mean and std
as they are. A row of −1 alone counts as one token 0.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from colabel.errors import InputError, Problem
from colabel.features.optional import require
from colabel.learning.models.network import ModelPlan, Network

if TYPE_CHECKING:
    from transformers import GPT2Config

PADDING = -1
_AT_ONCE = 16  # texts that are judged together: 500 long ones would take gigabytes
_END_OF_TEXT = 50_256


def gpt2(plan: ModelPlan) -> Network:
    """124,441,344 parameters with a head for 2 classes, random: see `language.pretrained`."""
    return _with_head(_config(vocab_size=50_257, bos_token_id=_END_OF_TEXT), plan)


def gpt2_tiny(plan: ModelPlan) -> Network:
    """Two layers, 32 wide, for bytes as tokens: to try out what would take a GPU."""
    sizes = {"vocab_size": 257, "n_embd": 32, "n_layer": 2, "n_head": 2, "bos_token_id": 256}
    return _with_head(_config(**sizes), plan)


def _config(**sizes: int) -> "GPT2Config":
    config: GPT2Config = require("transformers.models.gpt2", "text").GPT2Config(
        eos_token_id=sizes["bos_token_id"], **sizes
    )
    return config


def _with_head(config: "GPT2Config", plan: ModelPlan) -> Network:
    if len(plan.shape) != 1 or not 1 <= plan.shape[0] <= config.n_positions:
        what = f"points of shape {plan.shape} are no rows of up to {config.n_positions} tokens"
        raise InputError(Problem(what, "Make them with colabel.learning.language.tokens."))
    # without a bias, as GPT2ForSequenceClassification
    head = nn.Linear(config.n_embd, plan.n_classes, bias=False) if plan.head else nn.Identity()
    return Network(LastToken(config, plan.shape[0]), head, config.n_embd)


class LastToken(nn.Module):
    """What GPT-2 says of the last token of each text: it alone has seen all others."""

    def __init__(self, config: "GPT2Config", length: int) -> None:
        super().__init__()
        self.model = require("transformers.models.gpt2", "text").GPT2Model(config)
        self.vocabulary, self.width = config.vocab_size, config.n_embd
        if self.model.wte.weight.is_meta:  # only asked what it would compute: `learning.flops`
            weights = sum(held.numel() for held in self.model.h.parameters() if held.ndim == 2)
            attention = 2 * length * config.n_embd * config.n_layer
            self.cost = nn.Linear(weights + attention, 1, bias=False)

    def forward(self, points: Tensor) -> Tensor:
        """(n, length) tokens to (n, width)."""
        if points.is_meta:
            self.cost(points.new_empty(*points.shape, self.cost.in_features))
        if points.is_meta or not len(points):
            return points.new_empty(len(points), self.width)
        if torch.is_grad_enabled():
            return self._last(points)
        return torch.cat([self._last(part) for part in torch.split(points, _AT_ONCE)])

    def _last(self, points: Tensor) -> Tensor:
        tokens = points.round().long()
        there = tokens != PADDING
        there[:, 0] = True
        last = there.sum(dim=1) - 1
        longest = int(last.max()) + 1  # more is padding in all of them
        tokens, there = tokens[:, :longest].clamp(min=0), there[:, :longest]
        if int(tokens.max()) >= self.vocabulary:
            what = f"token {int(tokens.max())} of a vocabulary of {self.vocabulary}"
            raise InputError(Problem(what, "Use the tokeniser that belongs to the model."))
        found = self.model(input_ids=tokens, attention_mask=there.long(), use_cache=False)
        hidden: Tensor = found.last_hidden_state
        return hidden[torch.arange(len(tokens)), last]
