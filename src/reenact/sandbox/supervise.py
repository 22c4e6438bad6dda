"""Waits for a box to end, reading what it prints and ending it when it crosses a limit.

One thread, woken by what happens (output, the end, a full pipe that drained) and by the pace of the
watcher, so a short program is not delayed. A box is ended by SIGKILL of all of it at once: never by
a stop, which would keep GPU memory held, and never by a gentle signal, which it may ignore.
"""

import os
import resource
import select
import selectors
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypedDict

from reenact.plain import PlainText
from reenact.sandbox.box import MIB, Ending, Event, Limits, OnOutput
from reenact.sandbox.watcher import PACE_S, BoxBroke, Crossing, Started, Watcher
from reenact.types import Stop


class Output:
    """The printed bytes of one box. Holds at most `keep_bytes`, whatever is printed."""

    def __init__(
        self,
        keep_bytes: int,
        output_bytes: int,
        listener: OnOutput | None = None,
    ) -> None:
        self._half = keep_bytes // 2
        self._most = output_bytes
        self._listener = listener
        self._cleaner = PlainText()
        self._head = bytearray()
        self._tail = bytearray()
        self._clean_bytes = 0
        self.printed_bytes = 0
        self.events: list[Event] = []

    @property
    def over(self) -> bool:
        """Whether more was printed than the program may print."""
        return self.printed_bytes > self._most

    def feed(self, data: bytes) -> None:
        """Take what one read gave."""
        self.printed_bytes += len(data)
        self._keep(self._cleaner.feed(data).encode())

    def finish(self) -> None:
        """The program has ended: nothing more comes."""
        self._keep(self._cleaner.finish().encode())

    def _keep(self, clean: bytes) -> None:
        if clean and self._listener is not None:
            try:
                self._listener(clean)
            except Exception as error:  # noqa: BLE001 - a listener's fault may not decide how it ended
                self._listener = None
                self.events.append(
                    Event(
                        "listener-failed",
                        f"{type(error).__name__}: {error}",
                    )
                )
        self._clean_bytes += len(clean)
        left = self._half - len(self._head)
        self._head += clean[:left]
        self._tail += clean[left:]
        if len(self._tail) > 2 * self._half:
            del self._tail[: len(self._tail) - self._half]

    @property
    def dropped_bytes(self) -> int:
        """Clean bytes that are not in `text`."""
        return max(0, self._clean_bytes - len(self._head) - self._half)

    def text(self) -> str:
        """Head and tail, the cut between them marked in words."""
        if not self.dropped_bytes:
            return (self._head + self._tail).decode()
        head = self._head.decode(errors="ignore")
        tail = self._tail[len(self._tail) - self._half :].decode(errors="ignore")
        return f"{head}\n[... {self.dropped_bytes} bytes of output left out here ...]\n{tail}"


_FIRST_LOOK_S = 0.004
_DEATH_S = 10.0
"""A killed box that is not gone after so long (a process stuck in a driver) is reported, not
waited for.
"""
_CHUNK = 64 * 1024


class Used(TypedDict):
    """What a box used, as its result says it."""

    wall_s: float
    cpu_s: float
    peak_memory_bytes: int


class Supervision:
    """The watch over one box, from its start to its end."""

    def __init__(
        self,
        box: Started,
        limits: Limits,
        output: Output,
        stdin: bytes,
        stop: Stop | None,
    ) -> None:
        self._box = box
        self._limits = limits
        self._output = output
        self._stdin = memoryview(stdin)
        self._stop = stop
        self._watcher = Watcher(box, limits)
        self._selector = selectors.DefaultSelector()
        self._began = time.monotonic()
        self._status: int | None = None
        self._usage: resource.struct_rusage | None = None
        self._end = os.pidfd_open(box.process.pid)

    def run(self) -> tuple[int, Crossing | None, Used]:
        """Wait for the end: the wait status of its process, what crossed a limit, what it used. The
        box is dead when this returns, also when it raises.
        """
        try:
            self._watch_for(self._box.output, selectors.EVENT_READ, self._read)
            self._watch_for(self._box.input, selectors.EVENT_WRITE, self._write)
            self._selector.register(self._end, selectors.EVENT_READ, self._reap)
            crossing = self._wait()
            wall = time.monotonic() - self._began
            if crossing is not None:
                self._watcher.count_cpu()
                self._box.kill()
            self._await_death()
            # What was printed before the end: all writers are dead, so nothing more can come.
            while not self._output.over and self._read():
                pass
            self._output.finish()
            last = self._too_much_output() if self._output.over else self._watcher.look(last=True)
            if self._status is None or self._usage is None:
                raise BoxBroke("its end could not be read")
            cpu = max(self._usage.ru_utime + self._usage.ru_stime, self._watcher.cpu_s)
            # A child starts with the peak of its parent: one below our own peak says nothing about
            # the box.
            own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            peak = 0
            if self._usage.ru_maxrss > own:
                peak = self._usage.ru_maxrss * 1024
            peak = max(peak, self._watcher.peak_memory_bytes)
            return (
                self._status,
                crossing or last,
                Used(wall_s=wall, cpu_s=cpu, peak_memory_bytes=peak),
            )
        finally:
            if self._status is None:
                self._box.kill()
                with suppress(BoxBroke):
                    self._await_death()
            self._selector.close()
            self._watcher.close()
            os.close(self._end)

    def _watch_for(
        self,
        descriptor: int | None,
        event: int,
        action: Callable[[], object],
    ) -> None:
        if descriptor is not None:
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, event, action)

    def _wait(self) -> Crossing | None:
        """Until the process has ended (none) or a limit is crossed."""
        deadline = self._began + self._limits.wall_s
        next_look = self._began + _FIRST_LOOK_S
        while self._status is None:
            now = time.monotonic()
            for key, _ in self._selector.select(max(0.0, min(deadline, next_look) - now)):
                action: Callable[[], object] = key.data
                action()
            if self._status is not None:
                return None
            now = time.monotonic()
            crossing = self._sudden(now, deadline)
            if crossing is None and now >= next_look:
                crossing = self._watcher.look()
                # Short at first: a program may be over before a steady pace would have seen it at
                # all.
                next_look = time.monotonic() + min(PACE_S, _FIRST_LOOK_S + (now - self._began) / 4)
                self._reap()
            if crossing is not None and self._status is None:
                return crossing
        return None

    def _sudden(self, now: float, deadline: float) -> Crossing | None:
        """What is known without a look."""
        if self._output.over:
            return self._too_much_output()
        if self._stop is not None and self._stop.asked:
            return Crossing(Ending.CANCELLED, "a stop was asked for")
        if now >= deadline:
            return Crossing(
                Ending.TIMEOUT,
                f"wall time: more than {self._limits.wall_s:g} s",
            )
        return None

    def _too_much_output(self) -> Crossing:
        return Crossing(
            Ending.OUTPUT_LIMIT,
            f"output: more than {self._limits.output_bytes / MIB:g} MiB",
        )

    def _read(self) -> int:
        """Take what is there to read: how much; nothing more comes after an end without a byte."""
        try:
            data = os.read(self._box.output, _CHUNK)
        except BlockingIOError:
            return 0
        if data:
            self._output.feed(data)
        elif self._box.output in self._selector.get_map():
            self._selector.unregister(self._box.output)
        return len(data)

    def _write(self) -> None:
        if self._box.input is None:
            return
        try:
            sent = os.write(
                self._box.input,
                self._stdin[:_CHUNK],
            )
        except BlockingIOError:
            return
        except BrokenPipeError:
            sent = len(self._stdin)
        self._stdin = self._stdin[sent:]
        if not self._stdin:
            self._selector.unregister(self._box.input)
            os.close(self._box.input)
            self._box.input = None

    def _reap(self) -> None:
        if self._status is not None:
            return
        try:
            pid, status, usage = os.wait4(
                self._box.process.pid,
                os.WNOHANG,
            )
        except ChildProcessError:
            self._status = 0
            raise BoxBroke("another part of this process took the news of its end") from None
        if pid == 0:
            return
        self._status = status
        self._usage = usage
        # Popen must not wait for a process that is already reaped.
        self._box.process.returncode = os.waitstatus_to_exitcode(status)

    def _await_death(self) -> None:
        deadline = time.monotonic() + _DEATH_S
        death = select.poll()
        death.register(self._end, select.POLLIN)
        while self._status is None:
            if time.monotonic() > deadline:
                raise BoxBroke(f"its processes did not die within {_DEATH_S:g} s of SIGKILL")
            death.poll(500)
            self._reap()
