"""Loaders and losses are for training or for evaluation by what is done with them, whatever they
are called: the names here say nothing, or the contrary.
"""

from __future__ import annotations

from textwrap import dedent

import pytest

from reenact.program.program import program_from_text
from reenact.program.training.purpose import Purpose, Purposes
from reenact.program.training.reading import read

HEAD = """
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(2, 2)])

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
TRAINS, EVALUATES, UNKNOWN = Purpose.TRAINS, Purpose.EVALUATES, Purpose.UNKNOWN

ONE_PASS = """
def go(m, rows, o=None):
    for x, y in rows:
        cost = cross_entropy(m(x), y)
        if o is not None:
            o.zero_grad()
            cost.backward()
            o.step()

"""
ON_A_FLAG = """
def go(m, rows, flag):
    for x, y in rows:
        cost = cross_entropy(m(x), y)
        if flag:
            cost.backward()
            opt.step()

"""
TEXTS = {
    "a loop that steps": (
        "for x, y in DataLoader(val_set):\n    cross_entropy(net(x), y).backward()\n",
        [TRAINS],
    ),
    "a loop that asks the model": (
        "for x, y in DataLoader(train_set):\n    print(net(x).argmax(1) == y)\n",
        [EVALUATES],
    ),
    "a comprehension that asks the model": (
        "print(sum(cross_entropy(net(x), y).item() for x, y in DataLoader(train_set)))\n",
        [EVALUATES],
    ),
    "a loop that collects": (
        "rows = [x for x, y in DataLoader(test_set)]\n",
        [UNKNOWN],
    ),
    "no loop": ("test_loader = DataLoader(test_set)\n", [UNKNOWN]),
    "by an argument that is left out": (
        ONE_PASS + "go(net, DataLoader(a), opt)\ngo(net, DataLoader(b))\n",
        [TRAINS, EVALUATES],
    ),
    "by a flag": (
        ON_A_FLAG + "go(net, DataLoader(a), True)\ngo(net, DataLoader(b), False)\n",
        [TRAINS, EVALUATES],
    ),
    "by a flag that is computed": (
        ON_A_FLAG + "go(net, DataLoader(a), len(argv) > 1)\n",
        [UNKNOWN],
    ),
    "a step on a condition of the loop": (
        "for x, y in DataLoader(a):\n    cost = cross_entropy(net(x), y)\n"
        "    if torch.isfinite(cost):\n        cost.backward()\n",
        [TRAINS],
    ),
    "either way of stepping": (
        "for x, y in DataLoader(a):\n    cost = cross_entropy(net(x), y)\n"
        "    if torch.cuda.is_available():\n        scaler.scale(cost).backward()\n"
        "    else:\n        cost.backward()\n",
        [TRAINS],
    ),
    "handed back by a library": (
        "from accelerate import Accelerator\nacc = Accelerator()\n"
        "net, rows, held = acc.prepare(net, DataLoader(a), DataLoader(b))\n"
        "for x, y in rows:\n    acc.backward(cross_entropy(net(x), y))\n"
        "    cross_entropy(net(x), y).backward()\n"
        "for x, y in held:\n    print(net(x))\n",
        [TRAINS, EVALUATES],
    ),
    "returned together": (
        "def both():\n    return DataLoader(a), DataLoader(b)\n"
        "test, train = both()\n"
        "for x, y in test:\n    cross_entropy(net(x), y).backward()\n"
        "for x, y in train:\n    print(net(x))\n",
        [TRAINS, EVALUATES],
    ),
    "by a hook of Lightning": (
        "import lightning\nclass D(lightning.LightningDataModule):\n"
        "    def train_dataloader(self):\n        return DataLoader(a)\n"
        "    def val_dataloader(self):\n        return DataLoader(b)\n",
        [TRAINS, EVALUATES],
    ),
    "by a trainer of Lightning": (
        "import lightning\nt = lightning.Trainer()\n"
        "t.fit(net, DataLoader(a), DataLoader(b))\nt.test(net, DataLoader(c))\n",
        [TRAINS, EVALUATES, EVALUATES],
    ),
}


def purposes_of(text: str) -> Purposes:
    return Purposes(read(program_from_text(HEAD + dedent(text))).loops)


@pytest.mark.parametrize(("text", "wanted"), TEXTS.values(), ids=TEXTS.keys())
def test_a_loader_is_for_what_is_done_with_it(text: str, wanted: list[Purpose]) -> None:
    purposes = purposes_of(text)
    calls = purposes.analysis.calls()
    loaders = [call for call in calls if purposes.sources.dotted(call.func).endswith("DataLoader")]
    in_order = sorted(loaders, key=lambda call: (call.lineno, call.col_offset))
    assert [purposes.of_loader(call) for call in in_order] == wanted


LOSSES = {
    "differentiated at once": ("cross_entropy(net(x), y).backward()\n", TRAINS),
    "in a sum": (
        "total = cross_entropy(net(x), y)\nall_of_it = total + 1\nall_of_it.backward()\n",
        TRAINS,
    ),
    "collected": (
        "costs = []\nfor x, y in rows:\n    costs.append(cross_entropy(net(x), y))\n"
        "sum(costs).backward()\n",
        TRAINS,
    ),
    "returned to a step": (
        "def metric(x, y):\n    return cross_entropy(net(x), y)\nmetric(x, y).backward()\n",
        TRAINS,
    ),
    "only printed": (
        "net(x).sum().backward()\nloss = cross_entropy(net(x), y)\nprint(loss)\n",
        EVALUATES,
    ),
    "returned to be printed": (
        "net(x).sum().backward()\ndef train_loss(x, y):\n    return cross_entropy(net(x), y)\n"
        "print(train_loss(x, y))\n",
        EVALUATES,
    ),
    "returned to nobody": (
        "net(x).sum().backward()\ndef val_loss(x, y):\n    return cross_entropy(net(x), y)\n",
        UNKNOWN,
    ),
    "without gradients": (
        "net(x).sum().backward()\nwith torch.no_grad():\n    loss = cross_entropy(net(x), y)\n",
        EVALUATES,
    ),
    "with no step in the text": ("val_loss = cross_entropy(net(x), y)\n", UNKNOWN),
}


@pytest.mark.parametrize(("text", "wanted"), LOSSES.values(), ids=LOSSES.keys())
def test_a_loss_is_for_what_becomes_of_it(text: str, wanted: Purpose) -> None:
    purposes = purposes_of(text)
    dotted = "torch.nn.functional.cross_entropy"
    losses = [c for c in purposes.analysis.calls() if purposes.sources.dotted(c.func) == dotted]
    assert [purposes.of_loss(call) for call in losses] == [wanted]


def test_a_loop_over_layers_or_over_numbers_is_no_evaluation() -> None:
    step = "for x, y in rows:\n    cross_entropy(net(x), y).backward()\n"
    assert not purposes_of(step).any_evaluates
    counted = step + "for number in range(5):\n    x = net(x)\n"
    assert not purposes_of(counted).any_evaluates
    strided = step + "for start in range(0, 50, 5):\n    print(net(x[start : start + 5]))\n"
    assert purposes_of(strided).any_evaluates
