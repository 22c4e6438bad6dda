"""Ends every process that we started, wherever it went: groups and sessions of its own do not hide it."""

from __future__ import annotations

import os
import signal

from reenact.sandbox.monitor.processes import descendants

ROUNDS = 20
"""A process may start another one while we look; so many looks and none is left, or they breed on purpose."""


def processes_below(root: int) -> list[int]:
    """The numbers of all processes below `root`; none where the system does not tell."""
    try:
        return descendants(root)
    except OSError:
        return []


def end_below(root: int) -> None:
    """Kill every process below `root`, at once."""
    for _ in range(ROUNDS):
        alive = [number for number in processes_below(root) if not _is_dead(number)]
        if not alive:
            return
        end_all(alive)


def end_all(numbers: list[int]) -> None:
    """Kill these processes, at once; those that have ended by themselves are passed over."""
    for number in numbers:
        try:
            os.kill(number, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def _is_dead(number: int) -> bool:
    """A killed process whose parent has not looked yet is still in the list."""
    try:
        with open(f"/proc/{number}/stat", "rb") as file:  # noqa: PTH123 - a file of the kernel
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except (OSError, IndexError):
        return True
