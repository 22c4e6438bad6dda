"""Curves and layers of a diagnosis come from its trace, and only from one that this journal wrote."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reenact.journal import Journal, Kind
from reenact.web.desk import Desk

FOUND = {
    "code": "UM005", "name": "learning-rate-high", "severity": "error", "saw": "rate 10", "why": "too much",
    "step": 12, "fault": "HLR",
}  # fmt: skip
RESULT = {
    "depth": "quick", "task": "regression", "metric": None, "doubts": [], "symptoms": [], "seconds": 1.0,
    "trainings": 0, "notes": [],
    "findings": [{"confidence": 0.9, "standing": "untried", "fault": "HLR", "witnesses": [FOUND]}],
}  # fmt: skip


def diagnosed(runs: Path, trace: Path) -> str:
    left = {"folder": str(trace)}
    with Journal.open(runs) as journal, journal.run(story="diagnose", request={}, what="train.py") as run:
        run.step("watch", lambda: left, kind=Kind.TRIAL)
        run.note("result", RESULT)
        run.finish({"verdict": "1 finding"})
    return run.record.id


Writer = Callable[[Path], None]


@pytest.fixture
def read(
    tmp_path: Path, make_desk: Callable[[Path], Desk], enter: Callable[[Desk], TestClient]
) -> Callable[[str], str]:
    return lambda run: unescape(enter(make_desk(tmp_path / "runs")).get(f"/runs/{run}").text)


def test_curves_say_when_each_rule_fired_and_layers_stand_against_steps(
    tmp_path: Path, read: Callable[[str], str], write_trace: Writer
) -> None:
    write_trace(tmp_path / "runs" / "traces" / "train-1")
    page = read(diagnosed(tmp_path / "runs", tmp_path / "runs" / "traces" / "train-1"))
    titles = re.findall(r"<figcaption>([^<]+)</figcaption>", page)
    assert titles == [
        "Loss", "Metrics", "Gradient of the weights, by layer and step",
        "Size of an update, as a share of the weights", "Units that are dead",
    ]  # fmt: skip
    assert "UM005 at step 12" in page
    assert '"text":"UM005"' in page
    assert '"type":"heatmap"' in page
    assert '"y":["0 Linear"]' in page


def test_a_trace_that_was_cleared_away_is_missed_in_words(
    tmp_path: Path, read: Callable[[str], str], write_trace: Writer
) -> None:
    trace = tmp_path / "runs" / "traces" / "train-1"
    write_trace(trace)
    run = diagnosed(tmp_path / "runs", trace)
    shutil.rmtree(trace)
    assert "no longer on this machine" in read(run)


def test_a_trace_elsewhere_is_never_read(
    tmp_path: Path, read: Callable[[str], str], write_trace: Writer
) -> None:
    write_trace(tmp_path / "elsewhere")
    assert "heatmap" not in read(diagnosed(tmp_path / "runs", tmp_path / "elsewhere"))


def test_an_imported_run_does_not_choose_what_is_read_here(
    tmp_path: Path, read: Callable[[str], str], write_trace: Writer
) -> None:
    trace = tmp_path / "runs" / "traces" / "train-1"
    write_trace(trace)
    run = diagnosed(tmp_path / "other", trace)
    with Journal.open(tmp_path / "other") as journal:
        journal.export(journal.find(run), tmp_path / "run.gz")
    with Journal.open(tmp_path / "runs") as journal:
        journal.take_in(tmp_path / "run.gz")
    page = read(run)
    assert "(imported)" in page
    assert "heatmap" not in page
