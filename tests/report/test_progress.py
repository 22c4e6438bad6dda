from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from reenact.report.progress import Lines, telling
from reenact.types import Progress


def test_lines_tell_the_beginning_and_the_end_but_not_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    for done in range(101):
        lines(Progress("trials", done, 100, note="best 0.9"))
    output = capsys.readouterr()
    assert output.err.splitlines() == ["trials 0/100  best 0.9", "trials 100/100  best 0.9"]
    assert output.out == ""


def test_lines_tell_what_is_not_counted_once_each(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    lines(Progress("paper", 6, 6, "run the experiment"))
    for note in ("full run 1 of 2", "full run 1 of 2", "full run 2 of 2"):
        lines(Progress("paper", note=note))
    output = capsys.readouterr().err.splitlines()
    assert output == ["paper 6/6  run the experiment", "paper  full run 1 of 2", "paper  full run 2 of 2"]


def test_none_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with telling("none") as tell:
        tell(Progress("trials", 1, 2))
    assert capsys.readouterr().err == ""


def test_a_bar_keeps_stdout_free(capsys: pytest.CaptureFixture[str]) -> None:
    with telling("bar") as tell:
        tell(Progress("trials", 1, 2, note="[bold]not markup[/bold]"))
    assert capsys.readouterr().out == ""


DRAWS = """
from reenact.report.progress import telling
from reenact.types import Progress
with telling("auto") as tell:
    tell(Progress("training", 3, 8, "epoch 4/8, loss 0.5, about 12 s left", (4.0, 3.0, 2.0, 1.0)))
"""


def test_on_a_terminal_the_loss_is_drawn_beside_the_bar() -> None:
    ours, theirs = pty.openpty()
    environ = os.environ | {"COLUMNS": "120", "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", DRAWS], stderr=theirs, stdout=theirs, env=environ, check=True)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # Linux says so when the other side is closed and all was read.
        pass
    os.close(ours)
    assert "█▆▃▁ epoch 4/8, loss 0.5, about 12 s left" in shown.decode()
    assert "3/8" in shown.decode()
