"""An error anywhere in the probe switches the probe off, and never the program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from reenact.probe.injected import FOLDER

TORCH = (
    *(
        "torch",
        "construct",
        "optimizer",
        "forward",
        "forward-end",
        "function",
        "backward",
        "step",
        "step-end",
    ),
    *(
        "loader",
        "batch",
        "exhausted",
        "evaluation",
        "exit",
        "arm",
        "output",
        "output-gradient",
        "signal",
    ),
    *("exit-weights", "graphs"),
)
KERAS = (
    *(
        "keras",
        "compile",
        "keras-construct",
        "keras-loss",
        "keras-apply",
        "keras-apply-end",
        "fit",
        "fit-end",
    ),
    *("epoch", "metrics", "evaluate"),
)
ENDING = {
    "exit-status": "import argparse\nargparse.ArgumentParser().parse_args(['--unknown'])\n",
    "click": "import click\nclick.command()(lambda: print('done'))([])\n",
    "keras-traceback": "import keras\nimport numpy\nlayer = "
    "keras.layers.Dense(2)\nlayer.build((None, 3))\ntry:\n    layer(numpy.zeros((2, 5)))\nexcept "
    "ValueError:\n    print('caught')\n",
}
"""Programs that pass the guards of an end, by their names."""
CLIPPED = ("clip", "load", "padding", "warning")
BOOKS = (
    *("between", "metrics-book", "module-cleared", "plateau", "restore"),
    *("schedule", "shelf", "state-loaded", "state-taken", "state-written", "ties"),
)
ELSEWHERE = {
    *(
        "boot",
        "seeds",
        "backward-end",
        "metric",
        "lightning",
        "lightning-import",
        "torchmetrics",
    ),
    *("torchmetrics-import", "keras-step", "warning-place"),
    *(
        f"experiment-{point}"
        for point in (
            "torch",
            "keras",
            "tape",
            "forward",
            "loss",
            "backward",
            "step",
            "loader",
            "padding",
        )
    ),
}


def guard_names() -> set[str]:
    text = "\n".join(path.read_text() for path in FOLDER.rglob("*.py"))
    return set(re.findall(r'(?:guarded|switch_off)\("([a-z-]+)"', text))


def test_every_guard_is_tried() -> None:
    assert guard_names() - {"exit-end"} <= {
        *TORCH,
        *KERAS,
        *CLIPPED,
        *BOOKS,
        *ENDING,
        *ELSEWHERE,
    }


@pytest.fixture(scope="module")
def plain_output(forks: Any, programs: Path) -> dict[str, str]:
    return {
        name: forks.run(programs / name, watched=False).out
        for name in ("torch_small.py", "keras_small.py", "torch_clipped.py", "torch_books.py")
    }


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("program", "point"),
    [
        *(("torch_small.py", point) for point in TORCH),
        *(("keras_small.py", point) for point in KERAS),
        *(("torch_clipped.py", point) for point in CLIPPED),
        *(("torch_books.py", point) for point in BOOKS),
    ],
)
def test_a_fault_in_the_probe_leaves_the_program_alone(
    forks: Any, programs: Path, plain_output: dict[str, str], program: str, point: str
) -> None:
    ran = forks.run(programs / program, environment={"REENACT_PROBE_FAULT": point})
    assert (ran.code, ran.out) == (0, plain_output[program]), ran.err
    assert ran.err.count("reenact:") == 1, ran.err
    assert "switched itself off" in ran.err


@pytest.mark.parametrize("point", ENDING)
def test_a_fault_at_the_end_leaves_the_exit_code_alone(
    forks: Any, tmp_path: Path, point: str
) -> None:
    program = tmp_path / "ends.py"
    program.write_text(ENDING[point])
    plain = forks.run(program, watched=False)
    ran = forks.run(program, environment={"REENACT_PROBE_FAULT": point})
    assert (ran.code, ran.out) == (plain.code, plain.out), ran.err
    assert "switched itself off" in ran.err


def test_a_fault_in_the_middle_keeps_what_was_seen_before(forks: Any, programs: Path) -> None:
    ran = forks.run(programs / "torch_small.py", environment={"REENACT_PROBE_FAULT": "backward:15"})
    trace = ran.trace
    assert trace.step_count == 14
    assert any("met an error of its own" in sentence for sentence in trace.missing)
    assert trace.happened("probe-off")
