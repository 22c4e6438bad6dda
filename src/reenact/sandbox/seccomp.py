"""The filter of system calls that every program in a box runs under.

A denylist: ordinary programs, threads, forks, compilers and training frameworks need none of what
it refuses. Covered: kernel keyrings; io_uring, bpf, userfaultfd, perf (large attack surfaces of the
kernel); ptrace and its relatives; new namespaces by unshare, clone and setns (clone3 is answered
"not there", so that libraries fall back to clone, whose flags can be looked into); mounts and
changes of root; modules, kexec, clocks, host names; System V shared memory (it outlives processes
and is counted nowhere); fallocate (disk space without a write); typing into a terminal; socket
families and protocols other than unix, TCP, UDP, ICMP echo and routing netlink; calls by another
interface (32-bit, x32). Not covered: bugs in the calls that are left, which are most. Machines
other than x86-64 and aarch64 get no filter, and the tier says so.

The filter is a classic BPF program of eight-byte records. A jump counts the records that it leaves
out, so a block is made with what it leaves out at hand.
"""

import errno
import functools
import platform
import struct
from dataclasses import dataclass
from pathlib import Path

_NUMBER, _ARCHITECTURE = 0, 4
"""Offsets in the kernel's `struct seccomp_data`."""


def _load(offset: int) -> bytes:
    """Take the 32-bit word at an offset of the call."""
    return struct.pack("<HBBI", 0x20, 0, 0, offset)


def _argument(index: int) -> bytes:
    """Take the low 32 bits of an argument, on a little-endian machine."""
    return _load(16 + 8 * index)


def _jump(
    value: int,
    *,
    yes: int = 0,
    no: int = 0,
    bits: bool = False,
) -> bytes:
    """Leave out so many records when the word taken is the value (with `bits`: has a bit of
    it), or not.
    """
    return struct.pack(
        "<HBBI",
        0x45 if bits else 0x15,
        yes,
        no,
        value,
    )


def _end(verdict: int) -> bytes:
    return struct.pack("<HBBI", 0x06, 0, 0, verdict)


def _refuse(number: int) -> bytes:
    """The verdict that makes the call fail with this error."""
    return _end(0x00050000 | number)


_ALLOW = _end(0x7FFF0000)


_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: both put characters into a terminal's input."""
_UNIX = 1
_IPV4 = 2
_IPV6 = 10
_NETLINK = 16
_USUAL_PROTOCOLS = (0, 1, 6, 17, 58)
"""The default, ICMP echo, TCP, UDP. A rare protocol would make the kernel load a module for it."""
_ROUTING = 0
"""The netlink protocol by which a program asks for its own interfaces."""
_PLAIN_PERSONALITY = (0, 0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Machine:
    """One kernel interface: how seccomp names it, and which column of `syscalls.txt` has its
    numbers.
    """

    audit: int
    column: int
    second_interface_bit: int = 0
    """A bit in the number that selects another interface with other numbers (x32)."""

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers of the calls that are refused or looked into."""
        lines = Path(__file__).with_name("syscalls.txt").read_text(encoding="ascii").splitlines()
        rows = [line.split() for line in lines if not line.startswith("#")]
        return {row[0]: int(row[self.column]) for row in rows if row[self.column] != "-"}


MACHINES = {
    "x86_64": Machine(0xC000003E, 1, second_interface_bit=0x40000000),
    "aarch64": Machine(0xC00000B7, 2),
}


@functools.cache
def box_filter(machine: str | None = None) -> bytes | None:
    """The filter for this machine (or the named one), none when we do not know its numbers."""
    known = MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    return b"".join(_program(known))


def _program(machine: Machine) -> list[bytes]:
    denied = _refuse(errno.EPERM)
    absent = _refuse(errno.ENOSYS)
    numbers = machine.numbers
    program = [
        _load(_ARCHITECTURE),
        _jump(machine.audit, yes=1),
        denied,
        _load(_NUMBER),
    ]
    if machine.second_interface_bit:
        program += [
            _jump(machine.second_interface_bit, no=1, bits=True),
            absent,
        ]
    looked_into = {
        "clone3": [absent],
        "shmget": [absent],
        # The library then writes the zeros itself, and what is written is counted.
        "fallocate": [_refuse(errno.EOPNOTSUPP)],
        "clone": _by_argument(0, (_NEW_NAMESPACES,), denied, _ALLOW, bits=True),
        "personality": _by_argument(0, _PLAIN_PERSONALITY, _ALLOW, denied),
        "ioctl": _by_argument(1, _TERMINAL_INPUT, denied, _ALLOW),
        "socket": _socket(),
        "socketpair": _socket(),
    }
    refused = {name: [denied] for name in sorted(numbers) if name not in looked_into}
    for name, then in (refused | looked_into).items():
        # Each block ends in a verdict: the number is no longer the word taken after it.
        program += [
            _jump(numbers[name], no=len(then)),
            *then,
        ]
    return [*program, _ALLOW]


def _by_argument(
    index: int,
    values: tuple[int, ...],
    then: bytes,
    otherwise: bytes,
    *,
    bits: bool = False,
) -> list[bytes]:
    """One verdict when the argument is one of the values, or has a bit of one, another when it
    is not.
    """
    jumps = [
        _jump(
            value,
            yes=len(values) - at,
            bits=bits,
        )
        for at, value in enumerate(values)
    ]
    return [_argument(index), *jumps, otherwise, then]


def _socket() -> list[bytes]:
    """By the family; the usual protocols of the internet, and of netlink the one that asks for
    interfaces.
    """
    internet = _by_argument(2, _USUAL_PROTOCOLS, _ALLOW, _refuse(errno.EAFNOSUPPORT))
    to_allowed = len(internet) - 1
    to_refused = len(internet) - 2
    routing = [
        _argument(2),
        _jump(_ROUTING, yes=to_allowed, no=to_refused),
    ]
    family = [
        _argument(0),
        _jump(_UNIX, yes=5 + to_allowed),
        _jump(_IPV4, yes=4),
        _jump(_IPV6, yes=3),
    ]
    return [
        *family,
        _jump(_NETLINK, no=2 + to_refused),
        *routing,
        *internet,
    ]
