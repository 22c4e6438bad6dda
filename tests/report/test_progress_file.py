"""Progress of a command in the background: written for whoever started it, read back in words."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from reenact.own_process import PROGRESS_FILE
from reenact.report.progress_file import ProgressFile, Stage, asked_for, read_stage
from reenact.types import Progress, tell_nobody


def test_what_is_written_is_read(tmp_path: Path) -> None:
    received: list[Progress] = []
    path = tmp_path / "job.progress"
    progress = Progress("training", 50, 200, "epoch 51/200, loss 0.5", left=90.0)
    ProgressFile(path, received.append)(progress)
    stage = read_stage(path)
    assert stage is not None
    assert (stage.doing, stage.percent) == ("training: epoch 51/200, loss 0.5", 25)
    assert stage.left_s is not None
    assert stage.left_s <= 90
    assert received == [progress]


def test_a_new_stage_is_written_at_once_and_the_next_step_of_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "job.progress"
    tell = ProgressFile(path, tell_nobody)
    tell(Progress("reading", note="a"))
    tell(Progress("training", note="b"))
    assert read_stage(path) == Stage("training: b", None, None)
    tell(Progress("training", note="c"))
    assert read_stage(path) == Stage("training: b", None, None)


def test_the_time_left_goes_on_while_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "job.progress"
    data = {"what": "training", "note": "", "done": 1, "total": 2, "left": 90.0}
    path.write_text(json.dumps({**data, "at": time.time() - 3600}))
    assert read_stage(path) == Stage("training", 50, 0.0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"what": 1}', "not json"])
def test_what_cannot_be_read_is_no_progress(tmp_path: Path, text: str) -> None:
    path = tmp_path / "job.progress"
    path.write_text(text)
    assert read_stage(path) is None
    assert read_stage(tmp_path / "none") is None


def test_only_who_is_asked_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROGRESS_FILE, raising=False)
    assert asked_for(tell_nobody) is tell_nobody
    monkeypatch.setenv(PROGRESS_FILE, str(tmp_path / "job.progress"))
    asked_for(tell_nobody)(Progress("reading"))
    assert read_stage(tmp_path / "job.progress") == Stage("reading", None, None)


def test_a_folder_that_is_gone_does_not_end_the_work(tmp_path: Path) -> None:
    ProgressFile(tmp_path / "none" / "job.progress", tell_nobody)(Progress("reading"))
