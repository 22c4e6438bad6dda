"""Parameters find their optimizer, layers their model, gradients their way."""

from __future__ import annotations

import pytest

from edited_programs import at, changed, edits, refusal, renamed
from reenact.faults.fixes.parameters import (
    freeze_by_name,
    give_to_optimizer,
    join_graph,
    load_matching_names,
    register_modules,
)

MODEL = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = {value}  # of the body
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
"""


@pytest.mark.parametrize(
    ("value", "edited"),
    [
        (
            "[nn.Linear(4, 4) for _ in range(3)]",
            "nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])",
        ),
        ("[nn.Linear(4, 4), nn.ReLU()]", "nn.ModuleList([nn.Linear(4, 4), nn.ReLU()])"),
        ('{"a": nn.Linear(4, 4)}', 'nn.ModuleDict({"a": nn.Linear(4, 4)})'),
    ],
)
def test_layers_in_a_plain_list_are_registered(value: str, edited: str) -> None:
    text = MODEL.replace("{value}", value)
    (after,) = edits(text, lambda one: register_modules(one, at(text, "self.blocks")))
    assert f"        self.blocks = {edited}  # of the body\n" in after
    assert edits(after, lambda one: register_modules(one, at(after, "self.blocks"))) == []
    elsewhere = edits(text, lambda one: register_modules(one, at(text, "block(x)")))
    assert elsewhere == [after]


def test_a_list_that_is_filled_later() -> None:
    text = MODEL.replace("{value}", "[]").replace(
        "        self.head = ", "        self.blocks.append(nn.Linear(4, 4))\n        self.head = "
    )
    lines = changed(text, lambda one: register_modules(one, at(text, "self.blocks")))
    assert lines[1] == "+         self.blocks = nn.ModuleList([])  # of the body"


def test_keys_that_are_no_texts_are_refused() -> None:
    text = MODEL.replace("{value}", "{0: nn.Linear(4, 4)}")
    reason = refusal(text, lambda one: register_modules(one, at(text, "self.blocks")))
    assert reason == "The keys of a ModuleDict are texts, and those of this dictionary are not."


TRAINING = """
import torch
from torch import nn

body, head = nn.Linear(4, 4), nn.Linear(4, 2)
model = nn.Sequential(body, head)
other = nn.Linear(2, 2)
opt = torch.optim.Adam(head.parameters(), lr=0.01)  # all of it
for x, y in batches:
    opt.zero_grad()
    nn.functional.cross_entropy({output}, y).backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("output", "given"),
    [
        ("model(x)", "model.parameters()"),
        ("other(model(x))", "[*other.parameters(), *model.parameters()]"),
        ("head(body(x))", "[*head.parameters(), *body.parameters()]"),
    ],
)
def test_an_optimizer_is_given_what_the_training_calls(output: str, given: str) -> None:
    text = TRAINING.replace("{output}", output)
    (after,) = edits(text, give_to_optimizer)
    assert f"opt = torch.optim.Adam({given}, lr=0.01)  # all of it\n" in after
    assert edits(after, give_to_optimizer) == []
    names = {"body": "aa", "head": "bb", "model": "cc", "other": "dd"}
    (again,) = edits(renamed(text, **names), give_to_optimizer)
    assert again == renamed(after, **names)


def test_an_optimizer_is_made_after_a_part_was_replaced() -> None:
    text = TRAINING.replace("{output}", "model(x)").replace(
        "head.parameters()", "model.parameters()"
    )
    text = text.replace("# all of it\n", "# all of it\nmodel[1] = nn.Linear(4, 3)\n")
    (after,) = edits(text, give_to_optimizer)
    assert after.index("model[1] = ") < after.index("opt = torch")
    assert edits(after, give_to_optimizer) == []


def test_which_of_two_optimizers_is_not_guessed() -> None:
    text = TRAINING.replace("{output}", "model(x)").replace(
        "for x, y", "second = torch.optim.Adam(body.parameters(), lr=0.01)\nfor x, y"
    )
    assert refusal(text, give_to_optimizer).startswith("Which of several optimizers")


CUT = """
import torch
from torch import nn

def train(encoder, model, opt, batches):
    for x, y in batches:
        with torch.no_grad():
            # what is known of a row
            features = encoder(x)

            more = features * 2  # twice
        loss = nn.functional.cross_entropy(model(more.detach()), y)
        loss.backward()
        opt.step()

@torch.no_grad()
def passed(model, x):
    return model(x)
"""


def test_a_block_without_gradients_goes_and_its_lines_stay() -> None:
    (after,) = edits(CUT, lambda one: join_graph(one, at(CUT, "with torch.no_grad")))
    lines = "        # what is known of a row\n        features = encoder(x)\n\n"
    assert f"{lines}        more = features * 2  # twice\n        loss" in after


def test_a_detach_goes() -> None:
    lines = changed(CUT, lambda one: join_graph(one, at(CUT, "loss = nn")))
    assert lines[1] == "+         loss = nn.functional.cross_entropy(model(more), y)"


def test_a_mark_goes() -> None:
    assert changed(CUT, lambda one: join_graph(one, at(CUT, "@torch.no_grad"))) == [
        "- @torch.no_grad()"
    ]


def test_names_of_a_checkpoint_lose_what_a_wrapper_put_before_them() -> None:
    text = 'import torch\nmodel.load_state_dict(torch.load("w.pt"), strict=False)  # all\n'
    first, *_ = edits(text, lambda one: load_matching_names(one, at(text, "model")))
    renaming = '{name.removeprefix("module."): value for name, value in torch.load("w.pt").items()}'
    assert f"model.load_state_dict({renaming}, strict=False)  # all\n" in first
    reason = refusal(first, lambda one: load_matching_names(one, at(first, "model")))
    assert reason == "The names of the checkpoint are rewritten here already."


def test_each_text_is_looked_for_in_the_name() -> None:
    text = 'for n, p in named:\n    if "bias" or "norm" in n:\n        p.requires_grad = False\n'
    (after,) = edits(text, lambda one: freeze_by_name(one, at(text, "if ")))
    assert '    if "bias" in n or "norm" in n:\n' in after
    assert edits(after, lambda one: freeze_by_name(one, at(after, "if "))) == []
