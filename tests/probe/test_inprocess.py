"""Watching from inside: a `with` block, a metric the program tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.probe.read import is_trace, read_trace

pytestmark = pytest.mark.frameworks

BLOCK = """
import sys
import torch
import reenact

def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 2)).square().mean()
        loss.backward()
        optimizer.step()
        reenact.metric("score", step / 10)

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
reenact.metric("nobody looks", 1.0)
with reenact.watch(model, folder="inner") as watching:
    train(model)
train(model)
print(watching.trace is not None)
"""

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = tmp_path_factory.mktemp("block") / "train.py"
    script.write_text(BLOCK)
    return script


def test_a_block_is_watched_and_only_the_block(block: Path, run_plain: Run) -> None:
    done = run_plain(block)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    trace = read_trace(block.parent / "inner")
    assert trace.step_count == 6
    assert trace.complete
    assert [layer.type for layer in trace.graph.layers] == ["Linear", "ReLU", "Linear"]
    assert [facts.name for facts in trace.parameter_facts] == [
        "0.weight",
        "0.bias",
        "2.weight",
        "2.bias",
    ]
    assert trace.metric_names() == ("score",)
    assert trace.metric("score").values == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_under_an_outer_watch_the_inner_one_does_nothing(block: Path, watch_text: Run) -> None:
    seen = watch_text(block.read_text().replace('"inner"', repr(str(block.parent / "second"))))
    assert seen.printed == "False\n"
    assert not is_trace(block.parent / "second")
    assert seen.trace.step_count == 12
    assert len(seen.trace.metric("score").values) == 12
