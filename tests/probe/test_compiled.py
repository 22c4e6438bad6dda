"""A compiled model is trained as it is without the probe, and its layers are named."""

from __future__ import annotations

from typing import Any

import pytest

from reenact.probe.json_graph import infer_task
from reenact.program.graph import TensorFacts

pytestmark = pytest.mark.frameworks

PROGRAM = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x))

torch.manual_seed(0)
HOOK
model = torch.compile(Net(), backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(40, 4), torch.randint(3, (40,))
for step in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(loss.item())
"""
OWN_HOOK = "torch.nn.modules.module.register_module_forward_pre_hook(lambda module, given: None)"


@pytest.mark.parametrize("hook", ["", OWN_HOOK])
def test_output_and_warnings_are_those_of_the_program(forks: Any, hook: str) -> None:
    """Torch warns of hooks on all modules: of the program's own, never of the probe's."""
    text = PROGRAM.replace("HOOK", hook)
    plain, seen = forks.run(text, watched=False), forks.run(text)
    assert plain.code == 0, plain.err
    assert (seen.code, seen.out) == (plain.code, plain.out)
    warned = [
        [line.split("Warning: ")[1] for line in run.err.splitlines() if "Warning: " in line]
        for run in (plain, seen)
    ]
    assert warned[0] == warned[1]
    assert bool(warned[0]) is bool(hook)


def test_the_layers_of_a_compiled_model_are_those_it_was_made_of(forks: Any) -> None:
    trace = forks.run(PROGRAM.replace("HOOK", "")).trace
    layers = [(layer.name, layer.type, layer.place.line) for layer in trace.graph.layers]
    assert trace.graph.model == "Net"
    assert layers == [
        ("body.0", "Linear", 8),
        ("body.1", "ReLU", 8),
        ("head", "Linear", 9),
    ]
    assert "the model is compiled" in " ".join(trace.missing)


def test_whole_numbers_of_few_kinds_are_classes_where_nothing_else_is_known() -> None:
    labels = TensorFacts(
        "train",
        "label",
        (None,),
        "int64",
        0,
        9,
        4,
        2,
        0,
        0,
        10,
        (4,) * 10,
        40,
        tuple(range(10)),
        True,
    )
    assert infer_task(labels, None, None) == "multi-class"


ONE_FUNCTION = """
import torch

torch.manual_seed(0)
positive = torch.nn.Softplus()

class Curve(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = torch.nn.Parameter(torch.tensor(0.3))
        self.line = torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.line(x)

model = Curve()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(20, 2), torch.randn(20, 1)
for step in range(3):
    optimizer.zero_grad()
    width = positive(model.raw)
    loss = (((model(x) - y) / width) ** 2).mean() + width.log()
    loss.backward()
    optimizer.step()
"""


def test_a_function_called_beside_the_model_is_neither_model_nor_loss(
    forks: Any,
) -> None:
    graph = forks.run(ONE_FUNCTION).trace.graph
    assert graph.model == "Curve"
    assert graph.batch_size == 20
    assert graph.loss is None or graph.loss.name != "softplus"


PARALLEL = """
import torch
from torch import nn

class DistributedDataParallel(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *given):
        return self.module(*given)

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
net.eval()
model = DistributedDataParallel(net).eval()
net.train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    (model(torch.ones(5, 4)) ** 2).mean().backward()
    optimizer.step()
"""


def test_the_mode_of_a_wrapped_model_is_its_own_not_the_wrappers(forks: Any) -> None:
    """A trainer sets the mode of the model it was given, and wraps that for training in parallel.
    The class here has the name and the shape of torch's, which wants a process group.
    """
    trace = forks.run(PARALLEL).trace
    assert set(trace.steps["training"]) == {1}
    assert trace.graph.model == "Sequential"
    assert [layer.type for layer in trace.graph.layers] == ["Linear", "ReLU", "Linear"]
