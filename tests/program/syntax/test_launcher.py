"""Command lines as people type them."""

from __future__ import annotations

import pytest

from reenact.errors import UnreadableProgram
from reenact.program.syntax.launcher import Launch, read_line

LINES = [
    ("train.py", Launch("train.py")),
    ("train.py --lr 0.1", Launch("train.py", arguments=("--lr", "0.1"))),
    ("python train.py -v", Launch("train.py", arguments=("-v",))),
    (
        "python3.12 -u -W ignore train.py",
        Launch("train.py", launcher=("python3.12", "-u", "-W", "ignore")),
    ),
    ("-m pkg.train --lr 1", Launch("pkg.train", True, ("--lr", "1"))),
    ("python -m pkg", Launch("pkg", True)),
    ("study.ipynb", Launch("study.ipynb")),
    (
        "-- torchrun --standalone --nproc-per-node=2 ddp.py --lr 1",
        Launch(
            "ddp.py",
            arguments=("--lr", "1"),
            launcher=("torchrun", "--standalone", "--nproc-per-node=2"),
        ),
    ),
    (
        "torchrun --nproc_per_node 2 -m pkg x",
        Launch("pkg", True, ("x",), ("torchrun", "--nproc_per_node", "2")),
    ),
    (
        "python -m torch.distributed.run --nnodes 1 t.py",
        Launch("t.py", launcher=("python", "-m", "torch.distributed.run", "--nnodes", "1")),
    ),
    (
        "accelerate launch --num_processes 2 --cpu t.py --a",
        Launch(
            "t.py",
            arguments=("--a",),
            launcher=("accelerate", "launch", "--num_processes", "2", "--cpu"),
        ),
    ),
    (
        "deepspeed --num_gpus 2 t.py",
        Launch("t.py", launcher=("deepspeed", "--num_gpus", "2")),
    ),
    ("uv run python t.py", Launch("t.py", launcher=("uv", "run", "python"))),
    ("KEY=1 OTHER=x python t.py", Launch("t.py")),
]


@pytest.mark.parametrize(("line", "launch"), LINES)
def test_the_program_is_found_in_the_line(line: str, launch: Launch) -> None:
    assert read_line(line.split()) == launch


@pytest.mark.parametrize(
    "line", ["", "--", "torchrun --standalone", "python -u", "accelerate launch"]
)
def test_a_line_without_a_program_is_refused(line: str) -> None:
    with pytest.raises(UnreadableProgram):
        read_line(line.split())


def test_launchers_run_in_the_given_interpreter() -> None:
    plain = read_line(["train.py", "--lr", "1"])
    assert plain.command("/py") == ("/py", "train.py", "--lr", "1")
    assert plain.command("/py", "copy.py") == ("/py", "copy.py", "--lr", "1")
    torchrun = read_line(["torchrun", "--standalone", "ddp.py"])
    assert torchrun.command("/py") == (
        "/py",
        "-m",
        "torch.distributed.run",
        "--standalone",
        "ddp.py",
    )
    launched = read_line(["accelerate", "launch", "t.py"])
    assert launched.command("/py") == (
        "/py",
        "-m",
        "accelerate.commands.launch",
        "t.py",
    )
    assert read_line(["-m", "pkg"]).command("/py") == ("/py", "-m", "pkg")
