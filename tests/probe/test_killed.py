"""A program that is killed leaves a trace that can be read: a true beginning of the whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np

from contracts.executor import wait_for_file, wait_until_gone
from reenact.probe import injected
from reenact.probe.options import WatchOptions
from reenact.probe.read import read_trace

PROGRAM = """
import sys, time
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(400):
    x = torch.randn(8, 4)
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), x.mean(1, keepdim=True))
    loss.backward()
    optimizer.step()
    if "slowly" in sys.argv:
        time.sleep(0.05)
"""


def chunks(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.npz"))


def killed_after_a_chunk(python: str, script: Path, options: WatchOptions) -> int:
    """Start the program, wait for its first chunk, end it without a warning."""
    child = subprocess.Popen(
        [python, script.name, "slowly"],
        cwd=script.parent,
        env=injected.environment(options, {**os.environ, "OMP_NUM_THREADS": "1"}),
    )
    while child.poll() is None and not chunks(options.folder):
        time.sleep(0.05)
    child.kill()
    return child.wait()


def test_the_trace_of_a_killed_program_is_a_beginning_of_the_whole(
    tmp_path: Path, forks: Any, warm_interpreter: str
) -> None:
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)
    code = killed_after_a_chunk(warm_interpreter, script, WatchOptions(tmp_path / "killed"))
    whole_run = forks.run(script)
    assert (code, whole_run.code) == (-signal.SIGKILL, 0)
    cut, whole = read_trace(tmp_path / "killed"), whole_run.trace
    assert whole.complete
    assert not cut.complete
    assert whole.step_count == 400
    assert 0 < cut.step_count < 400
    assert np.array_equal(cut.losses.values, whole.losses.values[: cut.step_count])
    assert cut.graph is not None
    assert [layer.type for layer in cut.graph.layers] == ["Linear", "Tanh", "Linear"]
    cut_the_last_chunk(whole_run.folder, whole.step_count)


def cut_the_last_chunk(folder: Path, steps: int) -> None:
    """A chunk that was torn ends the trace there, and the trace says so."""
    last = chunks(folder)[-1]
    last.write_bytes(last.read_bytes()[:100])
    torn = read_trace(folder)
    assert torn.step_count < steps
    assert torn.missing


def test_a_watched_program_does_not_survive_our_own_death(tmp_path: Path) -> None:
    notes = tmp_path / "pid"
    program = (
        f"import os, time\nopen({str(notes)!r}, "
        f"'w').write(f'{{os.getpid()}}\\n')\ntime.sleep(600)\n"
    )
    (tmp_path / "train.py").write_text(program)
    ours = f"""\
        import sys
        from pathlib import Path
        from reenact.probe.options import WatchOptions
        from reenact.probe.watch import watch
        from reenact.program.program import read_program
        folder = Path({str(tmp_path)!r})
        watch(read_program(("train.py",), folder), WatchOptions(folder / "trace"))
    """
    with subprocess.Popen([sys.executable, "-c", dedent(ours)]) as parent:
        watched = int(wait_for_file(notes))
        parent.kill()
    wait_until_gone([watched])
