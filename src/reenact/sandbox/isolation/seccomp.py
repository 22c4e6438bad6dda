"""The filter of system calls that every program in a box runs under.

A denylist: ordinary programs, threads, forks, compilers and training frameworks need none of what it
refuses.
Covered: kernel keyrings; io_uring, bpf, userfaultfd, perf (large attack surfaces of the kernel); ptrace and
its relatives; new namespaces by unshare, clone and setns (clone3 is answered "not there", so that libraries
fall back to clone, whose flags can be looked into); mounts and changes of root; modules, kexec, clocks,
host names; System V shared memory (it outlives processes and is counted nowhere); fallocate (room on disk
without a write); typing into a terminal; socket families and protocols other than unix, TCP, UDP, ICMP echo
and routing netlink; calls by another interface (32-bit, x32).
Not covered: bugs in the calls that are left, which are most. Machines other than x86-64 and aarch64 get no
filter, and the tier says so.
"""

from __future__ import annotations

import errno
import functools
import platform

from reenact.sandbox.isolation.bpf import (
    ALLOW,
    ARCHITECTURE,
    NUMBER,
    Instruction,
    Jump,
    Label,
    Load,
    Return,
    argument,
    assemble,
    refuse,
)
from reenact.sandbox.isolation.syscalls import MACHINES, Machine

_LOOKED_INTO = frozenset(
    {"clone", "clone3", "socket", "socketpair", "ioctl", "personality", "shmget", "fallocate"}
)
_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: both put characters into a terminal's input."""
_UNIX, _IPV4, _IPV6, _NETLINK = 1, 2, 10, 16
_USUAL_PROTOCOLS = (0, 1, 6, 17, 58)
"""The default, ICMP echo, TCP, UDP. A rare protocol would make the kernel load a module for it."""
_ROUTING = 0
"""The netlink protocol by which a program asks for its own interfaces."""
_PLAIN_PERSONALITY = (0, 0xFFFFFFFF)


@functools.cache
def box_filter(machine: str | None = None) -> bytes | None:
    """The assembled filter for this machine (or the named one), none when we do not know its numbers."""
    known = MACHINES.get(machine or platform.machine())
    return None if known is None else assemble(_program(known))


def _program(machine: Machine) -> list[Instruction]:
    denied, absent, allowed = Return(refuse(errno.EPERM)), Return(refuse(errno.ENOSYS)), Return(ALLOW)
    program: list[Instruction] = [
        Load(ARCHITECTURE),
        Jump(machine.audit, yes="same interface"),
        denied,
        Label("same interface"),
        Load(NUMBER),
    ]
    if machine.second_interface_bit:
        program += [Jump(machine.second_interface_bit, no="first interface", bits=True), absent]
        program += [Label("first interface")]
    for name, number in sorted(machine.numbers.items()):
        if name not in _LOOKED_INTO:
            program += _when(number, name, [denied])
    program += _when(machine.numbers["clone3"], "clone3", [absent])
    program += _when(machine.numbers["shmget"], "shmget", [absent])
    # The library then writes the zeros itself, and what is written is counted.
    program += _when(machine.numbers["fallocate"], "fallocate", [Return(refuse(errno.EOPNOTSUPP))])
    program += _when(machine.numbers["clone"], "clone", _clone())
    program += _when(machine.numbers["personality"], "personality", _personality())
    program += _when(machine.numbers["ioctl"], "ioctl", _ioctl())
    for name in ("socket", "socketpair"):
        program += _when(machine.numbers[name], name, _socket(name))
    return [*program, allowed]


def _when(number: int, name: str, then: list[Instruction]) -> list[Instruction]:
    """`then` must end in a verdict: the number is no longer loaded after it."""
    return [Jump(number, no=f"not {name}"), *then, Label(f"not {name}")]


def _clone() -> list[Instruction]:
    return [
        Load(argument(0)),
        Jump(_NEW_NAMESPACES, no="clone allowed", bits=True),
        Return(refuse(errno.EPERM)),
        Label("clone allowed"),
        Return(ALLOW),
    ]


def _personality() -> list[Instruction]:
    return [
        Load(argument(0)),
        *(Jump(value, yes="plain personality") for value in _PLAIN_PERSONALITY),
        Return(refuse(errno.EPERM)),
        Label("plain personality"),
        Return(ALLOW),
    ]


def _ioctl() -> list[Instruction]:
    return [
        Load(argument(1)),
        *(Jump(request, yes="terminal input") for request in _TERMINAL_INPUT),
        Return(ALLOW),
        Label("terminal input"),
        Return(refuse(errno.EPERM)),
    ]


def _socket(name: str) -> list[Instruction]:
    return [
        Load(argument(0)),
        Jump(_UNIX, yes=f"{name} allowed"),
        Jump(_IPV4, yes=f"{name} internet"),
        Jump(_IPV6, yes=f"{name} internet"),
        Jump(_NETLINK, no=f"{name} denied"),
        Load(argument(2)),
        Jump(_ROUTING, yes=f"{name} allowed", no=f"{name} denied"),
        Label(f"{name} internet"),
        Load(argument(2)),
        *(Jump(protocol, yes=f"{name} allowed") for protocol in _USUAL_PROTOCOLS),
        Label(f"{name} denied"),
        Return(refuse(errno.EAFNOSUPPORT)),
        Label(f"{name} allowed"),
        Return(ALLOW),
    ]
