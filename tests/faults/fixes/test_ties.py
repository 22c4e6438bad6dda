"""Weights that are to be one parameter are one."""

from __future__ import annotations

import pytest

from edited_programs import at, edits, refusal
from reenact.faults.fixes.ties import tie_weights

MODEL = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 16)
        self.head = nn.Linear(16, 12, bias=False)
        {tie}  # shared
"""


@pytest.mark.parametrize(
    "tie",
    [
        "self.head.weight = nn.Parameter(self.embed.weight.clone())",
        "self.head.weight.data = self.embed.weight.data.clone()",
        "self.head.weight.data.copy_(self.embed.weight)",
    ],
)
def test_a_copy_becomes_the_weight_itself(tie: str) -> None:
    text = MODEL.replace("{tie}", tie)
    (after,) = edits(text, lambda one: tie_weights(one, at(text, "# shared")))
    assert "        self.head.weight = self.embed.weight  # shared\n" in after
    assert edits(after, lambda one: tie_weights(one, at(after, "# shared"))) == []


def test_a_weight_that_is_turned_round_is_refused() -> None:
    text = MODEL.replace("{tie}", "self.head.weight.data = self.embed.weight.t().clone()")
    reason = refusal(text, lambda one: tie_weights(one, at(text, "# shared")))
    assert reason == "One weight is the other turned round: they cannot be one parameter."


def test_a_tie_is_made_after_a_layer_was_replaced() -> None:
    text = MODEL.replace("{tie}", "self.head.weight = self.embed.weight") + (
        "\nmodel = Model()\nmodel.embed = nn.Embedding(20, 16)\n"
    )
    (after,) = edits(text, lambda one: tie_weights(one, None))
    replaced = "model.embed = nn.Embedding(20, 16)\nmodel.head.weight = model.embed.weight\n"
    assert replaced in after


def test_a_tie_that_a_later_line_undoes_is_made_after_it() -> None:
    text = MODEL.replace(
        "{tie}  # shared\n",
        "self.head.weight = self.embed.weight\n        self.embed = nn.Embedding(20, 16)\n",
    )
    (after,) = edits(text, lambda one: tie_weights(one, None))
    tie = (
        "        self.embed = nn.Embedding(20, 16)\n        self.head.weight = self.embed.weight\n"
    )
    assert tie in after
