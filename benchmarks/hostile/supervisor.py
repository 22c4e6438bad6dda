"""The process that owns the box while a hostile program runs: a user's process, full of secrets,
expendable.

Started by the judge as `python -m benchmarks.hostile.supervisor PLAN`; prints one line of JSON. It
adopts every orphan below it, so a process that outlives its box is seen, whatever it did to its
environment.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import signal
import sys
import termios
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from benchmarks.hostile.bare import Bare
from benchmarks.hostile.case import Case, read_case
from benchmarks.hostile.report import Plan, Report
from benchmarks.hostile.steps import after
from reenact.errors import ReenactError
from reenact.sandbox.box import Command, Mount, Sandbox
from reenact.sandbox.choose import choose, make_tier
from reenact.sandbox.processes import descendants
from reenact.sandbox.tiers.bubblewrap import Bubblewrap
from reenact.sandbox.tiers.sandlock import Sandlock

_SUBREAPER = 36
_GRACE_S = 2.0
_REMOVAL_S = 30.0
_WITH_NAMESPACES = ("bubblewrap", "container", "docker", "podman")
_ESCAPED = re.compile(rb"ESCAPED[^\n]{0,160}")


class Watched:
    """Everything printed, searched for secrets and for the program's own word; bounded whatever
    comes.
    """

    def __init__(self, secrets: list[str]) -> None:
        self._secrets = [secret.encode() for secret in secrets]
        self._tail = b""
        self.secrets: set[str] = set()
        self.words: list[str] = []

    def __call__(self, data: bytes) -> None:
        text = self._tail + data
        self.search(text)
        self._tail = text[-256:]

    def search(self, text: bytes) -> None:
        """Note the secrets and the claims in a piece."""
        self.secrets.update(secret.decode() for secret in self._secrets if secret in text)
        for word in _ESCAPED.findall(text):
            if len(self.words) < 20 and word.decode(errors="replace") not in self.words:
                self.words.append(word.decode(errors="replace"))


def main(plan_path: Path) -> int:
    """Run the planned case and print what came of it."""
    plan = Plan.from_json(plan_path.read_text())
    plan_path.unlink()
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    case = read_case(Path(plan.case))
    if case.terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    _leave_open(Path(plan.root) / "outside")
    try:
        report = _run(case, plan)
    except ReenactError as error:
        report = Report(broke=f"{error.sentence} {error.next_step}".strip())
    sys.stdout.write(report.to_json() + "\n")
    return 0


def _run(case: Case, plan: Plan) -> Report:
    watched = Watched(plan.secrets)
    sandbox = _tier(plan.tier)
    command = _command(case, plan)
    late, left = -case.limits.wall_s, 0
    for _ in range(case.runs):
        began = time.monotonic()
        result = sandbox.run(command, case.limits, on_output=watched)
        late = max(late, time.monotonic() - began - case.limits.wall_s)
        left = max(left, _left_behind())
    _finish_removals()
    watched.search(result.output.encode())
    for content in result.results.values():
        watched.search(content)
    complaints = _host_step(case, command, result.results, Path(plan.root) / "after")
    return Report(
        ending=str(result.ending),
        exit_code=result.exit_code,
        signal=result.signal,
        why=result.why,
        output=result.output[-4000:],
        unclean=_unclean(result.output),
        events=[f"{event.kind}: {event.detail}" for event in result.events],
        secrets=sorted(watched.secrets),
        words=watched.words,
        complaints=complaints,
        late_s=late,
        left=left,
        peak_bytes=_peak_bytes(),
    )


def _tier(name: str) -> Sandbox:
    if name == Bare.name:
        return Bare()
    # That these work here is known to whoever planned this: no box is spent on finding out again.
    known = name in (Bubblewrap.name, Sandlock.name)
    return make_tier(name, trust_code=True) if known else choose(name, trust_code=True)


def _command(case: Case, plan: Plan) -> Command:
    root = Path(plan.root)
    # A tier without namespaces shows a folder at its own place alone.
    graders = "/graders" if plan.tier in _WITH_NAMESPACES else str(root / "graders")
    environment = {
        **plan.environment,
        "CANARY_SUPERVISOR": str(os.getpid()),
        "CANARY_GRADERS": graders,
    }
    return Command(
        argv=("python3", "program.py"),
        files={"program.py": case.path.read_bytes()},
        workspace=root / "workspace" if case.workspace else None,
        mounts=(Mount(root / "graders", graders),) if case.graders else (),
        environment=environment if case.hostile else {},
        collect=tuple(
            name.replace("{tag}", plan.environment["CANARY_TAG"]) for name in case.collect
        ),
    )


def _leave_open(outside: Path) -> None:
    """Descriptors as a careless library leaves them: inheritable, on a secret and on its folder."""
    for place, flags in (
        (outside / "secret.txt", os.O_RDWR),
        (outside, os.O_RDONLY | os.O_DIRECTORY),
    ):
        os.set_inheritable(os.open(place, flags), True)


def _left_behind() -> int:
    """How many processes the box left; they have a moment to go, then they are counted and
    ended.
    """
    until = time.monotonic() + _GRACE_S
    while (pids := _living()) and time.monotonic() < until:
        time.sleep(0.02)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)


def _finish_removals() -> None:
    """A large box that was not removed in time is removed by a thread of its owner, who goes on
    living.
    """
    for thread in threading.enumerate():
        if thread.name.startswith("remove "):
            thread.join(_REMOVAL_S)


def _living() -> list[int]:
    """Processes below this one, the dead among them reaped."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return descendants(os.getpid())


def _host_step(case: Case, command: Command, files: Mapping[str, bytes], folder: Path) -> list[str]:
    if not case.host_step:
        return []
    if set(files) != set(command.collect):
        return [f"not all files came back, only {sorted(files)}"]
    folder.mkdir()
    return after(case.host_step, files, folder)


def _unclean(text: str) -> bool:
    """Whether a control character other than newline and tab is in the kept output."""
    return any(
        (ord(letter) < 32 and letter not in "\n\t") or 127 <= ord(letter) < 160 for letter in text
    )


def _peak_bytes() -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
