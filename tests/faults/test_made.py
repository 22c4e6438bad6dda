"""From where a fault shows to where it is written."""

from __future__ import annotations

import pytest

from reenact.faults import Evidence, Place
from reenact.program.program import program_from_text
from reenact.program.training.cut_off import cut_at
from reenact.program.training.made import (
    asked_for_at,
    axes_made,
    bend_made,
    loss_made,
    mask_made,
)
from reenact.program.training.rows.augmented import judged_rows_made_at
from reenact.program.training.rows.origins import inputs_made_at
from reenact.program.training.rows.scaled import scaled_at


def line_of(text: str, words: str) -> int:
    (number,) = [at for at, line in enumerate(text.splitlines(), 1) if words in line]
    return number


def asked(text: str) -> Evidence:
    return Evidence(program_from_text(text))


def at(evidence: Evidence, line: int, last: int = 0) -> Place:
    assert evidence.program is not None
    return Place(evidence.program.entry_file.path, line, 0, last or line, 0)


OWN_LOSS = """
def apart(a, b):
    return -(a - b).pow(2).mean()

def step(model, x, y):
    loss = apart(model(x), y)
    return loss, y

for x, y in batches:
    loss, seen = step(model, x, y)
    loss = loss / 4
    BACKWARD
"""


@pytest.mark.parametrize(
    "backward",
    ["loss.backward()", "accelerator.backward(loss)", "scaler.scale(loss).backward()"],
)
def test_a_loss_is_followed_through_functions_and_divisions(backward: str) -> None:
    text = OWN_LOSS.replace("BACKWARD", backward)
    found = loss_made(asked(text).files, at(asked(text), line_of(text, backward)))
    assert found is not None
    assert found.line == line_of(text, "return -(a - b)")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("loss = ((net(x) - y) ** 2).mean()\nloss.backward()\n", "mean()"),
        ("loss = criterion(net(x), y)\nloss.backward()\n", "criterion("),
        (
            "def f(a):\n    if a:\n        return 1\n    return 2\nloss = f(x)\nloss.backward()\n",
            "loss = f",
        ),
        ("def train(loss):\n    loss.backward()\n", "loss.backward"),
        ("model.step(x)\nprint('no .backward')\n", "print"),
    ],
)
def test_a_loss_that_is_given_here_or_from_nowhere(text: str, words: str) -> None:
    line = len(text.splitlines())
    found = loss_made(asked(text).files, at(asked(text), line))
    assert found is not None
    assert found.line == line_of(text, words)


def test_a_mask_is_followed_to_where_it_is_made() -> None:
    text = (
        "class Attention(nn.Module):\n"
        "    def __init__(self):\n"
        "        tri = torch.ones(8, 8).tril(diagonal=1)\n"
        "        self.register_buffer('tri', tri.view(1, 8, 8))\n"
        "    def forward(self, att):\n"
        "        att = att.masked_fill(self.tri == 0, -1e9)\n"
        "        own = att.masked_fill(torch.triu(ones) == 0, -1e9)\n"
        "        return att.masked_fill(padding, -1e9)\n"
    )
    lines = {6: 3, 7: 7, 8: 8}
    found = {line: mask_made(asked(text).files, at(asked(text), line)) for line in lines}
    assert {line: place.line for line, place in found.items() if place is not None} == lines


@pytest.mark.parametrize(("kept", "line"), [("tri", 4), ("other", 7)])
def test_a_mask_is_followed_through_a_buffer_whose_name_is_a_constant(kept: str, line: int) -> None:
    text = (
        f"KEPT = {kept!r}\n"
        "class Attention(nn.Module):\n"
        "    def __init__(self):\n"
        "        rows = torch.ones(8, 8).tril(diagonal=1)\n"
        "        self.register_buffer(KEPT, rows.view(1, 8, 8))\n"
        "    def forward(self, att):\n"
        "        return att.masked_fill(self.tri == 0, -1e9)\n"
    )
    found = mask_made(asked(text).files, at(asked(text), 7))
    assert found is not None
    assert found.line == line


@pytest.mark.parametrize(
    ("made", "type_", "line"),
    [
        ("nn.GRU(4, 8)", "GRU", 3),
        ("nn.GRU(4, 8, batch_first=True)", "GRU", None),
        ("nn.TransformerEncoderLayer(8, 2)", "MultiheadAttention", 3),
        ("Own(4, 8)", "Linear", 5),
    ],
)
def test_mixed_rows_stand_where_the_axes_are_chosen(
    made: str, type_: str, line: int | None
) -> None:
    text = (
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        f"        self.part = {made}\n"
        "    def forward(self, x):\n"
        "        q = x.reshape(b, t, 4, 8).transpose(0, 2)\n"
        "        k = x.transpose(1, 2)\n"
        "        return self.part(q @ k)\n"
    )
    found = axes_made(asked(text).files, type_, at(asked(text), 4, 7))
    assert (found.line if found is not None else None) == line


@pytest.mark.parametrize(("axis", "line"), [(2, 5), (0, None)])
def test_axes_are_turned_where_constants_say_so(axis: int, line: int | None) -> None:
    text = (
        f"FIRST = {axis}\n"
        "class Net(nn.Module):\n"
        "    def __init__(self): ...\n"
        "    def forward(self, x):\n"
        "        q = x.permute(FIRST, 3, 1, 0, 4)\n"
        "        return q @ q\n"
    )
    found = axes_made(asked(text).files, "Net", at(asked(text), 4, 6))
    assert (found.line if found is not None else None) == line


def test_what_a_function_makes_stands_where_it_is_asked_for() -> None:
    text = (
        "def optimizer_for(model):\n"
        "    return torch.optim.Adam(model.parameters())\n"
        "optimizer = optimizer_for(model)\n"
        "model.head = nn.Linear(4, 2)\n"
        "other = torch.optim.SGD(model.parameters())\n"
    )
    found = [asked_for_at(asked(text).files, at(asked(text), line)) for line in (2, 5)]
    assert [place.line for place in found if place is not None] == [3, 5]
    twice = text + "again = optimizer_for(model)\n"
    assert asked_for_at(asked(twice).files, at(asked(twice), 2)) == at(asked(twice), 2)


def test_the_call_that_bends_an_output() -> None:
    text = "head = nn.Linear(4, 3)\nlogits = head(x)\nprobs = torch.softmax(logits, dim=-1)\n"
    found = bend_made(asked(text).files, at(asked(text), 1), "softmax")
    assert found is not None
    assert found.line == 3
    assert bend_made(asked(text * 2).files, at(asked(text), 1), "softmax") is None


def test_a_number_of_validation_rows_is_no_data_set() -> None:
    text = (
        "full = Digits(transforms)\nn_val = int(0.2 * len(full))\ntrain, val = random_split(full, [9, "
        "n_val])\n"
    )
    found = judged_rows_made_at(asked(text).files)
    assert found is not None
    assert found.line == 3


def test_inputs_are_found_where_they_become_a_tensor() -> None:
    text = (
        "table = read()\nx = torch.tensor(table[1:], dtype=torch.float32)\ndata = TensorDataset(x, "
        "y)\n"
    )
    found = inputs_made_at(asked(text).files)
    assert found is not None
    assert found.line == 2


def test_a_part_that_is_passed_without_gradients() -> None:
    text = (
        "class Net(nn.Module):\n"
        "    @torch.no_grad()\n"
        "    def encode(self, x):\n"
        "        return self.encoder(x)\n"
        "    def forward(self, x):\n"
        "        return self.head(self.encode(x))\n"
    )
    found = cut_at(asked(text).files, "encoder.0")
    assert found is not None
    assert found.line == 2
    assert cut_at(asked(text).files, "head") is None
    generates = text.replace("self.head(self.encode(x))", "self.head(self.encoder(x))")
    assert cut_at(asked(generates).files, "encoder.0") is None, "only what a training goes through"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "xtr, xva = train_test_split(x)\n"
            "mean, std = x.mean(0), x.std(0)\n"
            "xtr = (xtr - mean) / std\n",
            3,
        ),
        (
            "first, second = random_split(x, [8, 2])\n"
            "first = (first - 1) / 2\n"
            "second = (second - 3) / 2\n",
            3,
        ),
        (
            "train = Rows(Compose([Normalize(mean, std)]))\n"
            "val = Rows(None)\n"
            "model.fit(train, validation_data=val)\n",
            1,
        ),
        ("mean, std = x.mean(0), x.std(0)\n", None),
    ],
)
def test_where_one_split_is_scaled(text: str, line: int | None) -> None:
    found = scaled_at(asked(text).files)
    assert (found.line if found is not None else None) == line
