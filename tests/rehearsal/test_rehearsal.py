"""The crash matrix: killed at every point, the same command continues to the same end.

Checked each time: the same final answer, nothing acknowledged lost, nothing paid twice beyond the
one effect in flight, no process, box folder, control group or temporary file left. C3 and C4 belong
to downloads, which nothing here does; C17 to C22 are in tests/journal (disk, rivals,
time_and_place, schema).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from reenact.errors import (
    AnswerUnusable,
    JournalError,
    ReplayMiss,
    RunLocked,
    SandboxFailed,
    Stopped,
)
from reenact.journal import Journal, JournalReader, State, Status
from reenact.llm.scripted import Scripted
from reenact.sandbox.box import BoxResult, Command, Ending, Limits
from reenact.sandbox.cgroup import find_place
from reenact.types import Progress, Stop
from rehearsal.pipeline import rehearse
from rehearsal.run import PLAN, Ledger, PaidModel, PaidSandbox
from waiting import LONGEST_S, wait_until

STABLE = Path(__file__).with_name("stable.py")
EFFECTS = 8
"""One model call, four trials, three box runs."""
POINTS = [
    *(
        "C1",
        "C2",
        "C5",
        "C6",
        "C7",
        "C7:4",
        "C7:9",
        "C8",
        "C8:5",
        "C9",
        "C9:5",
        "C10",
        "C10:5",
    ),
    *("C11", "C11:3", "C12", "C12:2", "C13", "C14", "C14:3", "C15", "C16"),
]


@dataclass
class Place:
    """Where one rehearsal lives: its folder, and the temporary folder in which its boxes lie."""

    folder: Path
    tmp: Path

    @property
    def paid(self) -> Counter[str]:
        ledger = self.folder / "ledger"
        return Counter(ledger.read_text().split()) if ledger.exists() else Counter()

    @property
    def boxes(self) -> list[str]:
        return [path.name for path in self.tmp.glob("reenact-boxes-*/*")]

    def files(self) -> dict[str, bytes]:
        """Everything it leaves for its user."""
        left = [
            path
            for path in self.folder.rglob("*")
            if path.is_file() and ".reenact" not in path.parts
        ]
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in left
            if path.name != "ledger"
        }

    def processes(self) -> list[psutil.Process]:
        """Processes that know this place: the box's launcher and the program have it in their
        arguments.
        """
        marks = (str(self.folder), self.folder.name, str(self.tmp))
        return [
            process
            for process in psutil.process_iter(["cmdline"])
            if process.pid != os.getpid()
            and any(mark in word for word in process.info["cmdline"] or [] for mark in marks)
        ]


class Starter:
    """Starts rehearsals as processes of their own."""

    def __init__(self) -> None:
        self._stable = subprocess.Popen(
            [sys.executable, str(STABLE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(STABLE.parents[1])},
        )

    def begin(self, place: Place, crash_at: str = "", number: int = 0) -> int:
        assert self._stable.stdin is not None
        order = {
            "folder": str(place.folder),
            "tmp": str(place.tmp),
            "crash_at": crash_at,
            "signal": number,
        }
        self._stable.stdin.write(json.dumps(order) + "\n")
        self._stable.stdin.flush()
        return int(self._answer()["pid"])

    def end(self, place: Place) -> tuple[int, str]:
        """The exit code of the last one begun, and what it printed."""
        return int(self._answer()["code"]), Path(f"{place.folder}.printed").read_text()

    def run(self, place: Place, crash_at: str = "", number: int = 0) -> tuple[int, str]:
        self.begin(place, crash_at, number)
        return self.end(place)

    def close(self) -> None:
        assert self._stable.stdin is not None
        self._stable.stdin.close()
        self._stable.wait()

    def _answer(self) -> dict[str, Any]:
        assert self._stable.stdout is not None
        answer: dict[str, Any] = json.loads(self._stable.stdout.readline())
        return answer


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    opened = Starter()
    yield opened
    opened.close()


def made_place(tmp: Path) -> Iterator[Place]:
    # Killing needs no slow disk, so the journal lies in memory where there is one; boxes lie on the
    # disk.
    ram = Path("/dev/shm")
    folder = Path(
        tempfile.mkdtemp(dir=ram if os.access(ram, os.W_OK) else tmp, prefix="rehearsal-")
    )
    boxes = tmp / "tmp"
    boxes.mkdir()
    place = Place(folder / f"of-{folder.name}", boxes)
    yield place
    for process in place.processes():
        process.kill()
    shutil.rmtree(folder)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    yield from made_place(tmp_path)


@pytest.fixture(scope="module")
def whole(starter: Starter, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The rehearsal that nobody interrupts."""
    for place in made_place(tmp_path_factory.mktemp("whole")):
        code, printed = starter.run(place)
        assert code == 0, printed
        yield place


@dataclass
class Acknowledged:
    """What the journal says is done, with its results, and what had been paid by then."""

    results: dict[str, Any]
    paid: Counter[str]


def acknowledged(place: Place) -> Acknowledged:
    if not (place.folder / ".reenact" / "journal.db").exists():
        return Acknowledged({}, place.paid)
    try:
        reader = JournalReader.open(place.folder / ".reenact")
    except JournalError as error:
        # Killed while the journal was created: nothing was acknowledged yet.
        if "holds no run" not in str(error):
            raise
        return Acknowledged({}, place.paid)
    with reader as shelf:
        steps = [
            step for run in shelf.runs() for step in shelf.steps(run) if step.state is State.DONE
        ]
        # What a continued run says of its earlier executions is no result of the rehearsal.
        results = {
            step.path: shelf.result(step) for step in steps if not step.path.endswith("/reused")
        }
        return Acknowledged(results, place.paid)


def prove_same_end(place: Place, whole: Place, before: Acknowledged, most_twice: int) -> None:
    """Same answer, nothing lost, nothing paid twice but what was in flight."""
    assert place.files() == whole.files()
    after = acknowledged(place)
    assert after.results == acknowledged(whole).results
    assert {path: after.results[path] for path in before.results} == before.results
    assert [path for path in before.results if after.paid[path] > before.paid[path]] == []
    assert set(after.paid) == set(whole.paid)
    assert sum(after.paid.values()) - EFFECTS <= most_twice, after.paid
    with JournalReader.open(place.folder / ".reenact") as shelf:
        assert [run.status for run in shelf.runs()] == [Status.FINISHED]
        assert shelf.check().problems == ()


def prove_nothing_left(place: Place, seen_boxes: list[str]) -> None:
    """No process, box folder, control group or temporary file of this rehearsal."""
    # A killed box is gone when the kernel has reaped it, which takes a moment on a busy machine.
    wait_until(lambda: not place.processes(), "the processes of the rehearsal to end")
    prove_no_files_left(place)
    groups = find_place()
    assert [
        str(path) for box in seen_boxes if groups for path in groups.folders(box) if path.exists()
    ] == []


def prove_no_files_left(place: Place) -> None:
    assert place.boxes == []
    assert list((place.folder / ".reenact" / "tmp").glob("*")) == []
    assert [path for path in place.folder.rglob("*") if path.name.endswith(".tmp")] == []


def test_uninterrupted_it_pays_once_for_everything(whole: Place) -> None:
    assert sum(whole.paid.values()) == len(whole.paid) == EFFECTS
    assert b"# Rehearsal: repaired" in whole.files()["report.md"]
    assert set(whole.files()) == {
        "report.md",
        "work/train.py",
        "work/settings.json",
        "work/CHANGES.md",
    }
    prove_nothing_left(whole, [])


@pytest.mark.sample(5)
@pytest.mark.parametrize("point", POINTS)
def test_killed_at(point: str, starter: Starter, place: Place, whole: Place) -> None:
    code, printed = starter.run(place, crash_at=point)
    assert code == -signal.SIGKILL, f"the point {point} was not passed: {printed}"
    before, boxes = acknowledged(place), place.boxes
    code, printed = starter.run(place)
    assert code == 0, printed
    prove_same_end(place, whole, before, most_twice=1)
    prove_nothing_left(place, boxes)


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_ended_by_a_signal_while_a_box_runs(
    number: signal.Signals, starter: Starter, place: Place, whole: Place
) -> None:
    code, printed = starter.run(place, number=number)
    assert code == -number, printed
    before, boxes = acknowledged(place), place.boxes
    code, printed = starter.run(place)
    assert code == 0, printed
    prove_same_end(place, whole, before, most_twice=1)
    prove_nothing_left(place, boxes)


def test_killed_again_and_again_at_any_moment(starter: Starter, place: Place, whole: Place) -> None:
    chance = random.Random(11)
    kills, before = 0, acknowledged(place)
    for _ in range(6):
        pid = starter.begin(place)
        time.sleep(chance.uniform(0.05, 0.4))
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        code, printed = starter.end(place)
        if code == 0:
            break
        assert code == -signal.SIGKILL, printed
        kills += 1
        now = acknowledged(place)
        assert before.results.keys() <= now.results.keys()
        before = now
    else:
        code, printed = starter.run(place)
        assert code == 0, printed
    prove_same_end(place, whole, before, most_twice=kills)
    prove_nothing_left(place, [])


@pytest.mark.release
def test_its_parent_is_killed_and_it_goes_on_alone(place: Place, whole: Place) -> None:
    """The orphan keeps the run; the same command refuses with a clear word, or comes after it."""
    command = [sys.executable, "-m", "rehearsal.run", str(place.folder)]
    environment = {
        **os.environ,
        "TMPDIR": str(place.tmp),
        "PYTHONPATH": str(STABLE.parents[1]),
    }
    shell = subprocess.Popen(
        ["sh", "-c", '"$@" & wait', "sh", *command],
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    while not place.paid["rehearsal/look"]:
        time.sleep(0.01)
    [orphan] = psutil.Process(shell.pid).children()
    shell.kill()
    shell.wait()
    second = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert second.returncode == 0 or "RunLocked" in second.stderr, second.stderr
    psutil.wait_procs([orphan], timeout=LONGEST_S)
    assert not orphan.is_running()
    with JournalReader.open(place.folder / ".reenact") as shelf:
        finished = shelf.runs(status=Status.FINISHED)
        assert {str(run.verdict_data()["verdict"]) for run in finished} == {"repaired"}  # type: ignore[index,call-overload]
    assert place.files() == whole.files()
    # Whoever came after the orphan had finished has done everything once more but ask the model.
    twice = {path: len(finished) * count for path, count in whole.paid.items()}
    assert place.paid == Counter({**twice, "rehearsal/plan": 1})
    prove_nothing_left(place, [])


class NoBoxes:
    """A sandbox that gives everything the same end: for branches that no real box takes at will."""

    name = "no boxes"

    def __init__(self, result: BoxResult) -> None:
        self._result = result

    def run(self, command: Command, limits: Limits, **_: Any) -> BoxResult:
        return self._result

    def missing(self) -> str:
        return ""

    def does_not_stop(self) -> tuple[str, ...]:
        return ()


def rehearsed(
    tmp_path: Path, result: BoxResult, script: Any = None, stop: Stop | None = None
) -> None:
    with Journal.in_memory() as journal:
        rehearse(
            tmp_path,
            journal=journal,
            model=Scripted({"rehearsal/plan": PLAN} if script is None else script),
            sandbox=NoBoxes(result),
            stop=stop,
        )


def test_a_box_that_broke_says_nothing_about_the_program(tmp_path: Path) -> None:
    with pytest.raises(SandboxFailed, match="no folder"):
        rehearsed(tmp_path, BoxResult(Ending.SANDBOX_FAILED, "no boxes", why="no folder"))
    with pytest.raises(Stopped):
        rehearsed(tmp_path, BoxResult(Ending.CANCELLED, "no boxes"))


def test_an_answer_that_does_not_fit_ends_it_with_its_name(tmp_path: Path) -> None:
    fine = BoxResult(Ending.OK, "no boxes", results={"out.json": b'{"loss": 1.0}'})
    with pytest.raises(AnswerUnusable):
        rehearsed(tmp_path, fine, script=lambda call: {"learning_rates": []})
    with pytest.raises(ReplayMiss):
        rehearsed(tmp_path, fine, script={})


def test_it_stops_gently_between_steps(tmp_path: Path) -> None:
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped):
        rehearsed(tmp_path, BoxResult(Ending.OK, "no boxes"), stop=stop)


def test_what_does_not_help_is_not_repaired(tmp_path: Path) -> None:
    same = BoxResult(Ending.OK, "no boxes", results={"out.json": b'{"loss": 1.0}'})
    reported: list[Progress] = []
    with Journal.in_memory() as journal:
        model = PaidModel(Scripted({"rehearsal/plan": PLAN}), Ledger(tmp_path / "ledger"))
        sandbox = PaidSandbox(NoBoxes(same), Ledger(tmp_path / "ledger"))
        found = rehearse(
            tmp_path,
            journal=journal,
            model=model,
            sandbox=sandbox,
            tell=reported.append,
        )
        assert found.verdict == "not repaired"
        assert journal.find("last").exit_code == 1
        with (
            journal.run(pipeline="rehearsal", request="another"),
            pytest.raises(RunLocked),
        ):
            journal.run(pipeline="rehearsal", request="another")
    assert [progress.done for progress in reported] == [1, 2, 3, 4, 5, 6]
