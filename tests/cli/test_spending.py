"""`--dry-run` runs nothing, and a question comes above one dollar where somebody can answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import click
import pytest

from reenact.api.estimates import Estimate
from reenact.cli.edge import guarded
from reenact.cli.main import reenact
from reenact.cli.spending import may_begin

TRAINING = """\
import torch
from torch import nn

open("ran", "w").close()
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
"""


@contextmanager
def typing(text: bytes) -> Iterator[None]:
    """A terminal as stdin and stderr, at which the user types this."""
    master, slave = os.openpty()
    before = (sys.stdin, sys.stderr)
    with os.fdopen(slave) as stdin, os.fdopen(os.dup(slave), "w") as stderr:
        os.write(master, text)
        sys.stdin, sys.stderr = stdin, stderr
        try:
            yield
        finally:
            sys.stdin, sys.stderr = before
    os.close(master)


def costing(dollars: str | None) -> Estimate:
    return Estimate("so much", None if dollars is None else Decimal(dollars))


def test_above_a_dollar_no_ends_the_command() -> None:
    with typing(b"n\n"), pytest.raises(click.Abort):
        may_begin(lambda: costing("1.01"), dry_run=False)


def test_above_a_dollar_yes_goes_on() -> None:
    with typing(b"y\n"):
        assert may_begin(lambda: costing("1.01"), dry_run=False)


@pytest.mark.parametrize("dollars", ["1.00", "0", None])
def test_up_to_a_dollar_nothing_is_asked(dollars: str | None) -> None:
    with typing(b"n\n"):
        assert may_begin(lambda: costing(dollars), dry_run=False)


def test_a_limit_of_a_dollar_is_answer_enough() -> None:
    with typing(b"n\n"):
        assert may_begin(lambda: costing("9"), dry_run=False, max_cost=Decimal(1))


def test_a_higher_limit_is_not() -> None:
    with typing(b"n\n"), pytest.raises(click.Abort):
        may_begin(lambda: costing("9"), dry_run=False, max_cost=Decimal("1.01"))


def test_without_a_terminal_nothing_is_asked_nor_estimated() -> None:
    def estimate() -> Estimate:
        raise AssertionError("estimated")

    assert may_begin(estimate, dry_run=False)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["diagnose"], "Estimate: one watched run."),
        (["diagnose", "--depth", "static"], "Estimate: nothing is run."),
        (["diagnose", "--depth", "normal"], "up to 30 times the CPU time of one training"),
        (["diagnose", "--depth", "normal", "--budget", "40t"], "up to 40 trainings, and 12"),
        (["repair", "--budget", "5m"], "up to 300 s of trainings, and 20"),
        (["repair", "--seeds", "6", "--budget", "2x"], "one training, and 12 trainings to verify"),
    ],
)
def test_a_dry_run_says_what_it_would_cost_and_runs_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TRAINING)
    assert guarded(reenact, [*words, "--dry-run", "train.py"]) == 0
    assert says in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


@pytest.mark.parametrize(
    ("words", "requests"),
    [
        (["diagnose"], 11),
        (["repair", "--samples", "3"], 12),
        (["repair", "--samples", "3", "--strategy", "llm"], 15),
    ],
)
def test_the_dry_run_of_a_training_counts_requests_to_a_model(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    requests: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TRAINING)
    command = [*words, "--dry-run", "--model", "relay:answers", "train.py"]
    assert guarded(reenact, command) == 0
    assert f"at most about {requests} requests" in capsys.readouterr().out


def test_the_dry_run_of_a_bug_counts_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    (tmp_path / "report.md").write_text("It fails.")
    words = ["bug", "report.md", "--repo", ".", "--model", "relay:answers", "--dry-run"]
    assert guarded(reenact, words) == 0
    assert "at most about 32 requests" in capsys.readouterr().out
    assert guarded(reenact, [*words, "--contexts", "1", "--attempts", "1"]) == 0
    assert "at most about 4 requests" in capsys.readouterr().out


def test_a_paper_is_read_and_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper.md").write_text("# A method\n\nIt reaches 0.97 accuracy on DATA.\n")
    assert guarded(reenact, ["paper", "paper.md", "--model", "relay:answers", "--dry-run"]) == 0
    assert "requests and" in capsys.readouterr().out
    assert not (tmp_path / "reproduction").exists()
    assert not (tmp_path / ".reenact").exists()
