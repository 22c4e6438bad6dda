"""Notices that a program without a network tried to reach one.

The box has a network namespace with loopback alone. Every packet or connection to any other address finds
no route, and the kernel counts that, per namespace. The counters are opened while the box is started and
can be read after its last process is gone. Covered: TCP, UDP, IPv4, IPv6, name look-ups (the box's resolver
has an address outside). Not covered: which address was tried.
"""

from __future__ import annotations

import os

from reenact.sandbox.box import Event


class NetworkCounters:
    """The network counters of one box."""

    def __init__(self, pid: int) -> None:
        """`pid` is a process in the box, by its number on the host."""
        self._files = tuple(
            os.open(f"/proc/{pid}/net/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in _present(pid)
        )

    def refused(self) -> int:
        """How often something was sent to an address outside."""
        return sum(count_no_routes(os.pread(opened, 65536, 0).decode()) for opened in self._files)

    def events(self) -> tuple[Event, ...]:
        """What to tell of it: one event, or none."""
        count = self.refused()
        if not count:
            return ()
        times = "once" if count == 1 else f"{count} times"
        return (
            Event("network-denied", f"An address outside the box was tried {times}; the box has no network."),
        )

    def close(self) -> None:
        for opened in self._files:
            os.close(opened)


def _present(pid: int) -> list[str]:
    return [name for name in ("snmp", "snmp6") if os.path.exists(f"/proc/{pid}/net/{name}")]  # noqa: PTH110


def count_no_routes(text: str) -> int:
    """The count of packets without a route, in either of the two layouts the kernel writes."""
    names: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == "Ip6OutNoRoutes":
            return int(words[1])
        if words and words[0] == "Ip:":
            if names:
                return int(words[names.index("OutNoRoutes")])
            names = words
    return 0
