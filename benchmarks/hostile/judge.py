"""Judges one program of the hostile suite, or a benign twin, on one tier: by facts of the host.

contained   no secret came out, nobody of the host was reached or hurt, no code of it ran outside
named       the ending is one the program must get
gone        no process is left, and the box was gone within 2 s of its deadline
unchanged   folders, temporary folders, shared memory and control groups of the host are as before
small       the process that owned the box stayed below 200 MB
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hostile.canaries import Canaries
from benchmarks.hostile.case import Case
from benchmarks.hostile.look import left_in
from benchmarks.hostile.report import Plan, Report
from benchmarks.hostile.terminal import Terminal
from reenact.own_process import own_module
from reenact.sandbox.box import MIB, Ending
from reenact.sandbox.files.folder import start_time

MOST_LATE_S = 2.0
MOST_SUPERVISOR_BYTES = 200 * MIB
_PATIENCE_S = 60.0
BENIGN_WORD = "BENIGN done"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of one program on one tier. Every finding is a sentence against the tier."""

    case: Case
    tier: str
    ending: str
    escapes: tuple[str, ...]
    """What came out of the box."""
    misnamed: tuple[str, ...]
    """Why the ending is not one the program must get."""
    changes: tuple[str, ...]
    """What is not on the host as it was."""
    left_running: int
    """Processes that outlived the box."""
    late_s: float
    """Seconds after the deadline at which the box returned; negative when it returned before."""
    supervisor_bytes: int

    @property
    def contained(self) -> bool:
        return not self.escapes and not self.left_running

    @property
    def named(self) -> bool:
        return not self.misnamed

    @property
    def gone(self) -> bool:
        return not self.left_running and self.late_s <= MOST_LATE_S

    @property
    def unchanged(self) -> bool:
        return not self.changes and not self.left_running

    @property
    def small(self) -> bool:
        return self.supervisor_bytes < MOST_SUPERVISOR_BYTES

    @property
    def passed(self) -> bool:
        return self.contained and self.named and self.gone and self.unchanged and self.small

    @property
    def complaints(self) -> tuple[str, ...]:
        """Everything that was found wrong."""
        found = list(dict.fromkeys((*self.escapes, *self.misnamed, *self.changes)))
        if self.left_running:
            found.append(f"{self.left_running} processes outlived the box")
        if self.late_s > MOST_LATE_S:
            found.append(f"the box returned {self.late_s:.1f} s after its deadline")
        if not self.small:
            found.append(f"the supervisor took {self.supervisor_bytes // MIB} MiB")
        return tuple(found)


def lacking(case: Case) -> str:
    """What this machine lacks for a case, empty when nothing."""
    return " and ".join(need for need in case.needs if not _have(need))


def _have(need: str) -> bool:
    if need == "torch":
        return importlib.util.find_spec("torch") is not None
    if need == "compiler":
        return shutil.which("cc") is not None
    return platform.machine() == need


def judge(case: Case, tier: str) -> Judgement:
    """Run a case once on a tier and look at the host."""
    with Canaries() as canaries, Terminal(wanted=case.terminal) as terminal:
        report, supervisor = _supervise(case, tier, canaries, terminal)
        running = report.left + _end_marked(canaries.nonce)
        outside = canaries.changes()
        escapes = report.escapes() + canaries.contacts() + terminal.typed() + outside
        changes = outside + left_in(canaries.scratch) + _groups_left(supervisor)
    return Judgement(
        case,
        tier,
        report.ending,
        escapes=tuple(escapes),
        misnamed=tuple(_wrong_name(case, report)),
        changes=tuple(changes),
        left_running=running,
        late_s=report.late_s,
        supervisor_bytes=report.peak_bytes,
    )


def _supervise(case: Case, tier: str, canaries: Canaries, terminal: Terminal) -> tuple[Report, str]:
    """Run the supervisor; its report and its name: number and birth, as numbers are given again.

    A supervisor that dies or hangs reports just that.
    """
    environment = canaries.supervisor_environment()
    inside = {**canaries.environment(), **terminal.environment()}
    plan = Plan(str(case.path), tier, str(canaries.root), inside, canaries.secrets)
    place = canaries.root / "plan.json"
    place.write_text(plan.to_json())
    running = subprocess.Popen(  # noqa: S603 - our own module
        own_module("benchmarks.hostile.supervisor", str(place)),
        cwd=canaries.root,
        env=environment,
        stdin=terminal.stdin(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    name = f"{running.pid}-{start_time(running.pid)}"
    try:
        answer, complaint = running.communicate(
            timeout=case.runs * case.limits.wall_s + _PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        _end_marked(canaries.nonce)
        running.communicate()
        return Report(broke="the supervisor hung"), name
    if running.returncode != 0:
        last = complaint.decode(errors="replace").strip().splitlines()[-1:]
        return Report(broke=f"the supervisor died of {running.returncode} {' '.join(last)}"), name
    return Report.from_json(answer.decode()), name


def _wrong_name(case: Case, report: Report) -> list[str]:
    if not report.ending:
        return ["it has no ending"]
    ending, last_words = Ending(report.ending), repr(report.output[-300:])
    if ending not in case.endings:
        return [
            f"wanted {' or '.join(case.endings)}, got {report.seen}; its last words: {last_words}"
        ]
    if case.exit_code is not None and report.exit_code != case.exit_code:
        return [f"wanted exit status {case.exit_code}, got {report.seen}"]
    if case.why not in report.why or (not ending.is_evidence and not report.why):
        return [f"wanted a reason with {case.why!r} in it, got {report.seen}"]
    if not case.hostile and BENIGN_WORD not in report.output:
        return [f"the program did not come to its end: {last_words}"]
    return []


def _end_marked(nonce: str) -> int:
    """End every process that carries the nonce in its environment; how many there were."""
    found = 0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            marked = nonce.encode() in (place / "environ").read_bytes()
        except OSError:
            continue
        if marked:
            found += 1
            with suppress(ProcessLookupError):
                os.kill(int(place.name), signal.SIGKILL)
    return found


def _groups_left(supervisor: str) -> list[str]:
    """Control groups that the supervisor made and left."""
    mark = f"reenact-{supervisor}-"
    found = [
        folder for folder, _, _ in os.walk("/sys/fs/cgroup") if Path(folder).name.startswith(mark)
    ]
    return [f"a control group was left: {folder}" for folder in found]
