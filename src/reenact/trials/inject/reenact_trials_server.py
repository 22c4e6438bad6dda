"""Imports what trainings import once, then runs each trial in a fresh fork of itself.

Runs in the user's interpreter and needs nothing of reenact but the injected probe. One trial runs
at a time. Reads one JSON object a line from its standard input and answers the same way on what was
its standard output: `{"pid"}` when a trial runs, `{"code", "seconds", "cpu", "ended"}` when it is
over; `{"kill"}` ends it. When the input ends, or anyone who started it is gone, the trial and the
server end.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import reenact_trials_child as child

if TYPE_CHECKING:
    from reenact_probe.types import Facts


GRACE_S = 1.0
"""Between asking a trial to end and ending it."""
LOOK_S = 1.0
"""How often to look whether anyone who started us is still there."""
MOST_OUTPUT = 4 * 1024 * 1024
"""Bytes of a trial's output that are kept; the rest is read and dropped."""


class Channel:
    """The way to anyone who started us, moved away from the standard streams."""

    def __init__(self) -> None:
        self.incoming, self.outgoing = os.dup(0), os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        os.close(nowhere)
        self.parent = os.getppid()
        self._rest = b""

    def send(self, **answer: Any) -> None:
        os.write(
            self.outgoing,
            json.dumps(answer).encode() + b"\n",
        )

    def receive(self) -> Any:
        """The next line; none when there will be no more."""
        while b"\n" not in self._rest:
            if not select.select(
                [self.incoming],
                [],
                [],
                LOOK_S,
            )[0]:
                if self.orphaned:
                    return None
                continue
            more = os.read(self.incoming, 1 << 16)
            if not more:
                return None
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    @property
    def orphaned(self) -> bool:
        return os.getppid() != self.parent

    def close(self) -> None:
        os.close(self.incoming)
        os.close(self.outgoing)


class Running:
    """One trial: its process, its output, and how it is brought to an end."""

    def __init__(self, pid: int, output: int, job: Facts) -> None:
        self.pid = pid
        self.output = output
        self.began = time.monotonic()
        self.due = self.began + job["seconds"] if job["seconds"] else None
        """When the next harder signal is sent; none while there is no reason for any."""
        self.ended = ""
        self._sent = 0
        self._kept = 0
        self._file = open(job["output"], "wb", buffering=0)  # noqa: SIM115 - closed when the trial is over

    def over(self) -> bool:
        return (
            os.waitid(
                os.P_PID,
                self.pid,
                os.WEXITED | os.WNOHANG | os.WNOWAIT,
            )
            is not None
        )

    def pause(self) -> float:
        """Seconds until something is due."""
        if self.due is None:
            return LOOK_S
        return max(0.0, min(LOOK_S, self.due - time.monotonic()))

    def end(self, why: str) -> None:
        """Ask the whole group to end; `due` says when to insist."""
        self.ended = self.ended or why
        self.signal(signal.SIGKILL if self._sent else signal.SIGTERM)
        self._sent += 1
        self.due = time.monotonic() + GRACE_S

    def signal(self, number: int) -> None:
        for send in (os.killpg, os.kill):
            try:
                send(self.pid, number)
            except (ProcessLookupError, PermissionError):
                continue
            return

    def drain(self) -> bool:
        """Take what was printed; true while more may come."""
        try:
            data = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return True
        if data and self._kept < MOST_OUTPUT:
            self._file.write(data[: MOST_OUTPUT - self._kept])
            self._kept += len(data)
        return bool(data)

    def close(self) -> Facts:
        """Everything that is left of it ends; the numbers of the whole."""
        seconds = time.monotonic() - self.began
        # Before it is waited for: until then no one else can have its number.
        self.signal(signal.SIGKILL)
        while (
            select.select(
                [self.output],
                [],
                [],
                0,
            )[0]
            and self.drain()
        ):
            pass
        os.close(self.output)
        self._file.close()
        _, status, used = os.wait4(self.pid, 0)
        cpu = used.ru_utime + used.ru_stime + child.end_leftovers()
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        return {
            "code": code,
            "seconds": seconds,
            "cpu": cpu,
            "ended": self.ended,
        }


def serve(channel: Channel, wake: int) -> None:
    """Trials until there are no more, or until no one waits for them."""
    wanted = True
    while wanted:
        job = channel.receive()
        if job is None:
            return
        if "kill" in job:
            continue
        preload(job, channel)
        running = start(job, channel, wake)
        wanted = follow(running, channel, wake)
        answer = running.close()
        if wanted:
            channel.send(**answer)


def preload(job: Facts, channel: Channel) -> None:
    """Imports can take long and read nothing: meanwhile a timer looks whether anybody still
    waits for us.
    """
    signal.signal(
        signal.SIGALRM,
        lambda *_: os._exit(0) if channel.orphaned else None,
    )
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, LOOK_S, LOOK_S)
    try:
        child.preload(job)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def start(job: Facts, channel: Channel, wake: int) -> Running:
    """Fork a trial."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        channel.close()
        os.close(reading)
        signal.set_wakeup_fd(-1)
        child.become(job, writing, wake)
    os.close(writing)
    os.set_blocking(reading, False)
    running = Running(pid, reading, job)
    channel.send(pid=pid)
    return running


def follow(running: Running, channel: Channel, wake: int) -> bool:
    """Until the trial is over; false when no one waits for it any more."""
    sources = [channel.incoming, wake, running.output]
    wanted = True
    while not running.over():
        ready = select.select(
            sources,
            [],
            [],
            running.pause(),
        )[0]
        if wake in ready:
            os.read(wake, 4096)
        if running.output in ready and not running.drain():
            sources.remove(running.output)
        if channel.incoming in ready:
            wanted = channel.receive() is not None
            running.end("stopped")
            if not wanted:
                sources.remove(channel.incoming)
        if wanted and channel.orphaned:
            wanted = False
            running.end("stopped")
        if running.due is not None and time.monotonic() >= running.due:
            running.end("timeout")
    return wanted


def main() -> None:
    channel = Channel()
    # Processes that a trial leaves behind become ours, so that they can be ended.
    child.prctl(child.ADOPT_ORPHANS, 1)
    waiting, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel.send(
        ready=os.getpid(),
        python=sys.version.split()[0],
    )
    serve(channel, waiting)
    # Nothing of ours waits to be written; taking large libraries apart would only take time.
    os._exit(0)


if __name__ == "__main__":
    main()
