"""The commands that scripts/kills.py kills, and one execution of each: folder, processes,
result.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

HERE = Path(__file__).parent
CASES_DIR = HERE / "kill_cases"
BUG = HERE.parent / "src" / "reenact" / "demo" / "cases" / "bugs" / "abacusnet-five-classes"
GROUP, SUPERVISOR, CHILD, BOX = "group", "supervisor", "child", "box"
"""What is killed: the whole process group, the command alone, one process that it started outside a
sandbox, or one process inside a sandbox.
"""
MARK = "KILLS_FOLDER"
"""Environment variable by which processes of a series are known, also after they left the
process group.
"""
GRACE_S = 15.0
"""So long may processes outside the group take to notice that their parent is gone."""

ERROR = 2
"""The exit code of wrong input and of everything that stopped a command."""

Outcome = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One command that is killed."""

    name: str
    words: tuple[str, ...]
    code: int
    """The exit code of its reference run."""
    seconds: float
    """A guess of what the reference run takes, for the first estimate only; the run itself
    corrects it.
    """
    facts: Callable[[Mapping[str, Any]], Outcome]
    """What of the JSON result does not depend on time."""
    files: tuple[Path, ...] = ()
    """Copied into the folder it is started in."""
    at_once: int = 1
    """Most journalled effects in flight at one moment."""
    kinds: tuple[str, ...] = (GROUP, SUPERVISOR)
    """What of it is killed. The user's own program is not run in a sandbox."""


def _diagnosed(result: Mapping[str, Any]) -> Outcome:
    findings = result["data"]["findings"]
    return {
        "notices": [
            [one["code"], one["level"], one["message"], one["place"]] for one in result["notices"]
        ],
        "faults": [[one["fault"], one["line"], one["score"]] for one in findings],
    }


def _picked(*names: str) -> Callable[[Mapping[str, Any]], Outcome]:
    return lambda result: {name: result["data"][name] for name in names}


def _bug_words() -> tuple[str, ...]:
    case = json.loads((BUG / "case.json").read_text(encoding="utf-8"))
    return (
        "bug",
        str(BUG / "report.md"),
        "--repo",
        str(BUG / "project.bundle"),
        "--commit",
        case["buggy"],
        "--fixed",
        case["fixed"],
        "--model",
        f"replay:{BUG / 'recording.jsonl'}",
        "--seeds",
        "2",
    )


TRAINING = CASES_DIR / "training" / "train.py"
PAPER = CASES_DIR / "paper"
# One core trains, so that what is in flight is little; budgets in trainings, so that no clock
# decides.
CASES = {
    case.name: case
    for case in (
        Case(
            "diagnose",
            (
                "diagnose",
                "--depth",
                "normal",
                "--select",
                "UM005",
                "--budget",
                "20x",
                "--workers",
                "1",
                "train.py",
            ),
            1,
            15,
            _diagnosed,
            (TRAINING,),
            at_once=40,
        ),
        Case(
            "repair",
            (
                "repair",
                "--select",
                "UM005",
                "--budget",
                "12t",
                "--seeds",
                "6",
                "--workers",
                "1",
                "train.py",
            ),
            0,
            20,
            _picked("decision", "sentence", "patch", "diff", "verdicts"),
            (TRAINING,),
            at_once=40,
        ),
        # The seeds of a script share one box: a kill meets all of them in flight.
        Case(
            "bug",
            _bug_words(),
            0,
            8,
            _picked("script", "seeds_shown", "seeds_run"),
            at_once=5,
            kinds=(GROUP, SUPERVISOR, CHILD, BOX),
        ),
        Case(
            "paper",
            (
                "paper",
                str(PAPER / "paper.md"),
                "--without",
                "lineage",
                "--without",
                "scan",
                "--without",
                "atomicity",
                "--no-repair",
                "--seeds",
                "2",
                "--model",
                f"replay:{PAPER / 'recording.jsonl'}",
            ),
            0,
            5,
            _picked("gap", "criteria", "passed", "comparisons", "files"),
            kinds=(GROUP, SUPERVISOR, CHILD, BOX),
        ),
    )
}


@dataclass(frozen=True)
class Place:
    """The folder of one series of kills: working folder, runs, cache, settings and temporary
    files.
    """

    folder: Path

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def runs(self) -> Path:
        return self.work / ".reenact"

    def prepare(self, case: Case) -> None:
        for name in ("work", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for file in case.files:
            shutil.copy(file, self.work)

    def environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith("REENACT_")}
        return own | {
            "REENACT_NO_NETWORK_MODELS": "1",
            "REENACT_CACHE_DIR": str(self.folder / "cache"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "TMPDIR": str(self.folder / "tmp"),
            "OMP_NUM_THREADS": "1",
            MARK: str(self.folder),
        }

    def processes(self) -> list[psutil.Process]:
        """Everything that was started here and still runs, in the process group or not."""
        return [one for one in psutil.process_iter() if one.pid != os.getpid() and self._owns(one)]

    def boxes(self) -> list[str]:
        """Folders of sandboxes that nobody removed."""
        return sorted(path.name for path in (self.folder / "tmp").glob("reenact-boxes-*/*"))

    def _owns(self, process: psutil.Process) -> bool:
        # A sandbox starts with an empty environment, but its folder stands in its launcher's
        # arguments.
        mark, boxes = str(self.folder), str(self.folder / "tmp")
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            return process.environ().get(MARK) == mark or any(
                boxes in word for word in process.cmdline()
            )
        except psutil.Error:
            return False


class Started:
    """One execution of the command of a case, as the leader of a session of its own."""

    def __init__(self, case: Case, place: Place) -> None:
        self._place = place
        self._began = time.monotonic()
        with (
            (place.folder / "stdout").open("wb") as out,
            (place.folder / "stderr").open("wb") as err,
        ):
            self._process = subprocess.Popen(  # noqa: S603
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "reenact",
                    case.words[0],
                    "--output-format",
                    "json",
                    *case.words[1:],
                ],
                cwd=place.work,
                env=place.environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def was_killed(self) -> bool:
        return self._process.returncode == -signal.SIGKILL

    @property
    def failed_with_a_sentence(self) -> bool:
        """Whether it ended by an error that it named, as for a program that it started and that
        died.
        """
        text = (self._place.folder / "stderr").read_text(encoding="utf-8", errors="replace")
        return self._process.returncode == ERROR and "Traceback" not in text

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def ended_within(self, seconds: float) -> bool:
        try:
            self._process.wait(max(0.0, seconds - self.seconds))
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self, kind: str = GROUP) -> list[str]:
        """SIGKILL to the whole group, or to the command alone; returns what outlived it, now
        ended too.
        """
        family = psutil.Process(self._process.pid).children(recursive=True)
        if kind == GROUP:
            os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()
        return end_all(self._place, family, GRACE_S)

    def kill_one(self, kind: str, chance: random.Random) -> str:
        """SIGKILL to one process below the command, as soon as there is one of this kind: what it
        was, or nothing when the command ended before.
        """
        while self._process.poll() is None:
            victims = below(self._process.pid, boxed=kind == BOX)
            if victims:
                victim = chance.choice(sorted(victims, key=lambda one: one.pid))
                with suppress(psutil.Error):
                    name = " ".join(victim.cmdline())[:120] or victim.name()
                    victim.kill()
                    return name
            time.sleep(0.005)
        return ""

    def outcome(self, case: Case) -> Outcome:
        """Exit code, verdict and facts; where there is no result, what was printed instead."""
        code = self._process.returncode
        text = (self._place.folder / "stdout").read_text(encoding="utf-8", errors="replace")
        try:
            result = json.loads(text)
            facts = {
                "code": code,
                "verdict": result["verdict"],
                "facts": case.facts(result),
            }
        except (ValueError, KeyError, TypeError) as error:
            output = (self._place.folder / "stderr").read_text(encoding="utf-8", errors="replace")
            return {
                "code": code,
                "verdict": f"no result ({error!r})",
                "printed": output[-1500:],
            }
        return dict(json.loads(json.dumps(facts)))


def below(pid: int, *, boxed: bool) -> list[psutil.Process]:
    """Processes below another one that are in a sandbox, which has process numbers of its own,
    or are not.
    """
    found = []
    with suppress(psutil.NoSuchProcess):
        for process in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error, OSError):
                own = (
                    Path(f"/proc/{process.pid}/ns/pid").readlink()
                    != Path("/proc/self/ns/pid").readlink()
                )
                if own == boxed and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
    return found


def end_all(place: Place, family: list[psutil.Process], grace_s: float) -> list[str]:
    """Wait until all processes of a place are gone, then end the rest; returns their names."""
    deadline = time.monotonic() + grace_s
    alive = _alive(place, family)
    while alive and time.monotonic() < deadline:
        time.sleep(0.05)
        alive = _alive(place, family)
    left = []
    for process in alive:
        try:
            left.append(" ".join(process.cmdline())[:120] or process.name())
            process.kill()
        except psutil.NoSuchProcess:
            continue
    return left


def _alive(place: Place, family: list[psutil.Process]) -> list[psutil.Process]:
    running = [one for one in family if _runs(one)]
    return [*running, *(one for one in place.processes() if one not in running)]


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
