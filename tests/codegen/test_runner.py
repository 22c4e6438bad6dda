"""One run in a real sandbox: results under a secret word, the user's folders, logs, stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from killed_boxes import KilledFromOutside
from reenact.codegen.project import Project
from reenact.codegen.runner import (
    MOST_KINDS,
    MOST_LINES,
    PRINTED,
    LogSampler,
    ProgramRun,
    ProjectRunner,
    UserFolder,
    thinned,
)
from reenact.errors import Stopped
from reenact.journal import Journal
from reenact.sandbox.again import MOST_BOXES
from reenact.sandbox.box import Ending
from reenact.sandbox.choose import choose
from reenact.types import Stop

MAIN = """import json, os, sys
task = json.load(sys.stdin)
print("epoch 1 loss 0.5")
open("log.csv", "w").write("epoch,loss\\n1,0.5\\n")
text = open(os.path.join(os.environ["DATA_DIR"], "points.txt")).read() if "DATA_DIR" in os.environ else ""
open(f"result-{task['word']}.json", "w").write(json.dumps({"size": task["size"], "text": text}))
"""


def run(journal: Journal, runner: ProjectRunner, text: str = MAIN) -> ProgramRun:
    with journal.run(pipeline="paper", request={}, argv=(), what="x", fresh=True) as scope:
        return runner.run(
            "try",
            scope,
            Project({"main.py": text}),
            ("main.py",),
            limits=runner.limits(60.0),
            collect=("result-WORD.json",),
            task={"size": 3},
            logs=("log.csv",),
        )


def test_a_result_comes_back_under_the_name_it_was_asked_by(tmp_path: Path) -> None:
    (tmp_path / "points.txt").write_text("1 2")
    folder = UserFolder(tmp_path, "user_data", "DATA_DIR")
    ran = run(Journal.in_memory(), ProjectRunner(choose(trust_code=True), folders=(folder,)))
    assert ran.ok
    assert ran.sentence == "It ended well."
    assert ran.results == {"result-WORD.json": '{"size": 3, "text": "1 2"}'}
    assert ran.logs == {PRINTED: "epoch 1 loss 0.5", "log.csv": "epoch,loss\n1,0.5"}


def test_how_it_ended_is_a_sentence(tmp_path: Path) -> None:
    ran = run(
        Journal.in_memory(),
        ProjectRunner(choose(trust_code=True)),
        "raise SystemExit(3)\n",
    )
    assert (ran.ending, ran.sentence) == (Ending.EXIT, "It ended with exit code 3.")


def test_a_run_whose_boxes_were_killed_is_not_kept_and_the_same_command_tries_it_again() -> None:
    journal = Journal.in_memory()
    slow = "import time\nprint('step 1', flush=True)\ntime.sleep(2)\n" + MAIN

    def once(kills: int, *, ends: bool) -> ProgramRun:
        runner = ProjectRunner(KilledFromOutside(choose(trust_code=True), kills))
        with journal.run(pipeline="paper", request={}, argv=(), what="x") as scope:
            ran = runner.run(
                "try",
                scope,
                Project({"main.py": slow}),
                ("main.py",),
                limits=runner.limits(60.0),
                collect=("result-WORD.json",),
                task={"size": 3},
            )
            if ends:
                scope.finish({}, 0)
            return ran

    killed = once(MOST_BOXES, ends=False)
    assert killed.ending == Ending.KILLED
    assert killed.sentence.startswith(f"It could not run: the box was killed {MOST_BOXES} times")
    assert once(MOST_BOXES - 1, ends=True).results == {
        "result-WORD.json": '{"size": 3, "text": ""}'
    }


def test_a_folder_that_changed_is_another_run(tmp_path: Path) -> None:
    def marks() -> list[str]:
        folder = UserFolder(tmp_path, "user_data", "DATA_DIR")
        return ProjectRunner(choose(trust_code=True), folders=(folder,)).folder_marks

    (tmp_path / "points.txt").write_text("1 2")
    before = marks()
    assert marks() == before
    (tmp_path / "points.txt").write_text("1 2 3")
    assert marks() != before


def test_a_stop_says_nothing_about_the_code() -> None:
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped):
        run(Journal.in_memory(), ProjectRunner(choose(trust_code=True), stop=stop))


def test_only_lines_with_a_number_are_kept_however_they_are_cut() -> None:
    sampler = LogSampler()
    for part in (
        b"starting\nepoch 1 loss 0",
        b".5\nepoch 2 loss nan\ndo",
        b"ne\nepoch 3 loss 0.25",
    ):
        sampler(part)
    assert sampler.text().splitlines() == [
        "epoch 1 loss 0.5",
        "epoch 2 loss nan",
        "epoch 3 loss 0.25",
    ]


def test_each_kind_is_thinned_by_itself_and_keeps_its_last_line() -> None:
    sampler = LogSampler()
    sampler.take(f"step {number}" for number in range(10 * MOST_LINES))
    sampler.take(["accuracy 0.5"])
    lines = sampler.text().splitlines()
    assert len(lines) < MOST_LINES + 2
    assert lines[0] == "step 0"
    assert lines[-2:] == [f"step {10 * MOST_LINES - 1}", "accuracy 0.5"]


def test_too_many_kinds_are_no_log() -> None:
    sampler = LogSampler()
    sampler.take(f"{'x' * number} 1" for number in range(10 * MOST_KINDS))
    assert len(sampler.text().splitlines()) == MOST_KINDS


def test_files_keep_the_names_of_a_table_and_binary_ones_are_left_out() -> None:
    files = {
        "log.csv": b"epoch,loss\n1,0.5\nnote\n",
        "all.json": b'{"a": 1}',
        "weights.bin": b"\x00\x01",
    }
    assert thinned(files) == {"log.csv": "epoch,loss\n1,0.5", "all.json": '{"a": 1}'}
