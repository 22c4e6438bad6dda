"""The observed training is the same training: every printed loss, the final weights, the random
state.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.probe.options import WatchOptions

NAMES = ("torch_small.py", "keras_small.py", "by_hand.py", "transformer.py")


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("preset", ["quick", "deep"])
def test_a_watched_program_prints_what_it_prints_unwatched(
    forks: Any, programs: Path, name: str, preset: str
) -> None:
    plain = forks.run(programs / name, watched=False)
    seen = forks.run(programs / name, options=WatchOptions(Path("x"), preset=preset))
    assert plain.code == 0, plain.err
    assert (seen.code, seen.out) == (plain.code, plain.out)
    assert seen.trace.step_count >= 24
    assert seen.err == plain.err


def test_nothing_of_the_probe_stays_on_after_the_first_steps(forks: Any) -> None:
    """A hook, a mode or a wrapper left on would slow every later step."""
    ran = forks.run(
        """
import torch
from torch import nn
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for step in range(24):
    optimizer.zero_grad()
    criterion(model(torch.ones(3, 4)), torch.zeros(3, dtype=torch.long)).backward()
    optimizer.step()
from torch.nn.modules import module
hooks = len(module._global_forward_hooks), len(module._global_forward_pre_hooks)
print(*hooks, torch._C._len_torch_function_stack())
"""
    )
    assert ran.out == "0 0 0\n", ran.err
    assert list(ran.trace.steps.where(sampled=1)["step"]) == list(range(21))


def test_what_a_program_saves_holds_nothing_of_the_probe(forks: Any) -> None:
    """Hooks or attributes on a module would be pickled with it, copied with it, compiled with
    it.
    """
    ran = forks.run(
        """
import copy, io, torch
from torch import nn
model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(2, 3)).sum().backward()
optimizer.step()
buffer = io.BytesIO()
torch.save(model, buffer)
torch.save(optimizer, buffer)
print(b"reenact" in buffer.getvalue(), [key for key in vars(copy.deepcopy(model)[0]) if "reenact" in key])
print(torch.jit.script(model)(torch.ones(1, 3)).shape)
"""
    )
    assert ran.out == "False []\ntorch.Size([1, 3])\n", ran.err
