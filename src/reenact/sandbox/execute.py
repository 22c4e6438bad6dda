"""The life of one box, the same for every tier: make, fill, start, watch, name its end,
collect, remove.
"""

import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from signal import SIGKILL

from reenact.errors import InputError, SandboxFailed
from reenact.own_process import crash_point
from reenact.sandbox.box import MIB, BoxResult, Command, Ending, Event, Limits, OnOutput
from reenact.sandbox.cgroup import kernel_counts
from reenact.sandbox.disk import free_bytes
from reenact.sandbox.files.collect import Collected, collect, fill, inner_name
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.supervise import Output, Supervision
from reenact.sandbox.view import passable
from reenact.sandbox.watcher import (
    HOST_RESERVE_BYTES,
    BoxBroke,
    LauncherKilled,
    ProgramEnd,
    Started,
)
from reenact.types import Stop


class Tier:
    """One way to start a program. Makes what it starts a `Sandbox`."""

    name: str

    def run(
        self,
        command: Command,
        limits: Limits,
        *,
        on_output: OnOutput | None = None,
        stop: Stop | None = None,
    ) -> BoxResult:
        """Run one command in a fresh box. Raises InputError for a wrong command, nothing else."""
        if not command.argv or not all(passable(word) for word in command.argv):
            raise InputError(
                f"A command is at least one word of text without NUL. Received: "
                f"argv={command.argv!r}"
            )
        for name in command.collect:
            inner_name(name)
        if stop is not None and stop.asked:
            return BoxResult(
                Ending.CANCELLED, self.name, why="a stop was asked for before the start"
            )
        try:
            folder = BoxFolder.make()
        except (OSError, SandboxFailed) as error:
            return BoxResult(
                Ending.SANDBOX_FAILED,
                self.name,
                why=f"its folder could not be made: {error}",
            )
        output = Output(limits.keep_bytes, limits.output_bytes, on_output)
        try:
            result = self._live(folder, command, limits, output, stop)
        finally:
            left = folder.close()
        return replace(
            result,
            events=(
                *result.events,
                *(Event("left-behind", name) for name in left),
            ),
        )

    def start(
        self,
        folder: BoxFolder,
        command: Command,
        limits: Limits,
    ) -> Started:
        """Start the command in a filled folder. Raises BoxBroke when that fails."""
        raise NotImplementedError

    def _live(
        self,
        folder: BoxFolder,
        command: Command,
        limits: Limits,
        output: Output,
        stop: Stop | None,
    ) -> BoxResult:
        """One box from its empty folder to its result."""
        free = free_bytes(folder.path)
        if free < HOST_RESERVE_BYTES:
            why = f"only {free // MIB} MiB of disk are free at {folder.path}"
            return BoxResult(Ending.SANDBOX_FAILED, self.name, why=why)
        box: Started | None = None
        try:
            fill(folder.work, command, limits)
            crash_point("C8")
            box = self.start(folder, command, limits)
            return self._watch(box, command, limits, output, stop)
        except (BoxBroke, OSError) as error:
            what = "it could not be started" if box is None else "it could not be watched"
            why = str(error) if isinstance(error, BoxBroke) else f"{what}: {error}"
            output.finish()
            ending = Ending.KILLED if isinstance(error, LauncherKilled) else Ending.SANDBOX_FAILED
            return BoxResult(
                ending,
                self.name,
                why=why,
                output=output.text(),
            )
        finally:
            if box is not None:
                # The watch kills its box; this is for the watch that could not.
                if box.process.returncode is None:
                    box.kill()
                    with suppress(subprocess.TimeoutExpired):
                        box.process.wait(5)
                box.close()

    def _watch(
        self,
        box: Started,
        command: Command,
        limits: Limits,
        output: Output,
        stop: Stop | None,
    ) -> BoxResult:
        crash_point("C9")
        # A group counts its own; the machine's count also moves when a neighbour is killed.
        blame_machine = box.group is None or box.group.memory is None
        kills_before = _host_oom_kills() if blame_machine else 0
        status, crossing, used = Supervision(
            box,
            limits,
            output,
            command.stdin,
            stop,
        ).run()
        crash_point("C10")
        end = ProgramEnd(crossing=crossing) if crossing else box.ended(status)
        events = [
            *(box.network.events() if box.network is not None else ()),
            *output.events,
        ]
        collected = collect(
            box.folder.work,
            command.collect,
            limits.result_bytes,
            disposable=True,
        )
        for name in collected.missing:
            events.append(Event("result-missing", name))
        ending, why = _name(end, collected)
        if ending is not Ending.RESULT_REFUSED:
            events += [
                Event(
                    "result-refused",
                    f"{name}: {why}",
                )
                for name, why in collected.refused.items()
            ]
        if ending is Ending.KILLED and blame_machine and _host_oom_kills() > kills_before:
            # Not its own limit: another program may have used the memory that was missing.
            why = "the machine itself ran out of memory and its kernel killed the program"
        return BoxResult(
            ending,
            self.name,
            exit_code=end.exit_code,
            signal=end.signal,
            why=why,
            **used,
            output=output.text(),
            output_dropped_bytes=output.dropped_bytes,
            results=collected.results,
            events=tuple(events),
        )


def _name(end: ProgramEnd, collected: Collected) -> tuple[Ending, str]:
    """The ending: a crossed limit first, then a kill, a refused result, the program's own end."""
    if end.crossing is not None:
        return end.crossing.ending, end.crossing.why
    if end.signal == SIGKILL:
        return Ending.KILLED, "it died of SIGKILL, which the sandbox did not send"
    if collected.refused:
        return Ending.RESULT_REFUSED, "; ".join(
            f"{name}: {why}" for name, why in collected.refused.items()
        )
    if end.signal is not None:
        return Ending.SIGNAL, ""
    return (Ending.EXIT if end.exit_code else Ending.OK), ""


def _host_oom_kills() -> int:
    """How many processes this machine's kernel has killed for want of memory since it started."""
    return kernel_counts(Path("/proc/vmstat")).get("oom_kill", 0)
