"""Curves and layers of a diagnosis come from its trace, and only from one that this journal
wrote.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reenact.diagnosis.diagnosis import (
    Diagnosis,
    TrainingUsage,
)
from reenact.diagnosis.options import Depth
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import finding_of
from reenact.faults.observation import Observation, Severity
from reenact.journal import Journal, Kind
from reenact.web.state import AppState

FINDING = finding_of(
    Observation(
        "UM005",
        "learning-rate-high",
        "umlaut",
        FaultType.HLR,
        Severity.ERROR,
        "rate 10",
        "too much",
        0.9,
        step=12,
    )
)
RESULT = Diagnosis(Depth.QUICK, Evidence(), (FINDING,), (), (), 0.5, TrainingUsage(1.0)).to_store()


def diagnosed(runs: Path, trace: Path) -> str:
    left = {"folder": str(trace)}
    with (
        Journal.open(runs) as journal,
        journal.run(pipeline="diagnose", request={}, what="train.py") as run,
    ):
        run.step("watch", lambda: left, kind=Kind.TRIAL)
        run.note("result", RESULT)
        run.finish({"verdict": "1 finding"})
    return run.record.id


Writer = Callable[[Path], None]


@pytest.fixture
def read(
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> Callable[[str], str]:
    return lambda run: unescape(enter(make_state(tmp_path / "runs")).get(f"/runs/{run}").text)


def test_curves_say_when_each_rule_fired_and_layers_stand_against_steps(
    tmp_path: Path, read: Callable[[str], str], write_trace: Writer
) -> None:
    write_trace(tmp_path / "runs" / "traces" / "train-1")
    page = read(diagnosed(tmp_path / "runs", tmp_path / "runs" / "traces" / "train-1"))
    titles = re.findall(r"<figcaption>([^<]+)</figcaption>", page)
    assert titles == [
        "Size of an update, as a share of the weights",
        "Loss",
        "Metrics",
        "Gradient of the weights, by layer and step",
        "Size of an update, as a share of the weights",
        "Dead units",
    ]
    assert "UM005 at step 12" in page
    assert ">UM005</text>" in page
    assert ">0 Linear</text>" in page
    assert 'id="layers"' in page


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
    assert 'id="layers"' not in read(diagnosed(tmp_path / "runs", tmp_path / "elsewhere"))


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
    assert 'id="layers"' not in page
