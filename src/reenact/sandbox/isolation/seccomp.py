"""The filter of system calls that every program in a box runs under.

A denylist: ordinary programs, threads, forks, compilers and training frameworks need none of what it
refuses.
Covered: kernel keyrings; io_uring, bpf, userfaultfd, perf (large attack surfaces of the kernel); ptrace and
its relatives; new namespaces by unshare, clone and setns (clone3 is answered "not there", so that libraries
fall back to clone, whose flags can be looked into); mounts and changes of root; modules, kexec, clocks,
host names; System V shared memory (it outlives processes and is counted nowhere); fallocate (disk space
without a write); typing into a terminal; socket families and protocols other than unix, TCP, UDP, ICMP echo
and routing netlink; calls by another interface (32-bit, x32).
Not covered: bugs in the calls that are left, which are most. Machines other than x86-64 and aarch64 get no
filter, and the tier says so.

The filter is a classic BPF program: a list of instructions and labels; jumps name labels, and `assemble`
turns them into the kernel's eight-byte records.
"""

import errno
import functools
import platform
import struct
from dataclasses import dataclass
from pathlib import Path

_LOAD_WORD, _JUMP_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_FARTHEST_JUMP = 255

ALLOW = 0x7FFF0000
_ERRNO = 0x00050000

NUMBER, ARCHITECTURE = 0, 4
"""Offsets in the kernel's `struct seccomp_data`."""


def argument(index: int) -> int:
    """Offset of the low 32 bits of an argument on a little-endian machine."""
    return 16 + 8 * index


def refuse(errno: int) -> int:
    """The verdict that makes the call fail with `errno`."""
    return _ERRNO | errno


@dataclass(frozen=True, slots=True)
class Label:
    """A place to jump to."""

    name: str


@dataclass(frozen=True, slots=True)
class Load:
    """Take the 32-bit word at `offset` of the call."""

    offset: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Compare the loaded word with `value`; go to `yes`, or to `no`, or on where that is empty."""

    value: int
    yes: str = ""
    no: str = ""
    bits: bool = False
    """Ask whether any bit of `value` is set instead of whether the words are equal."""


@dataclass(frozen=True, slots=True)
class Return:
    """End with a verdict."""

    verdict: int


Instruction = Label | Load | Jump | Return


def assemble(program: list[Instruction]) -> bytes:
    """The program as the kernel reads it."""
    places: dict[str, int] = {}
    real: list[Load | Jump | Return] = []
    for instruction in program:
        if isinstance(instruction, Label):
            places[instruction.name] = len(real)
        else:
            real.append(instruction)
    return b"".join(_encode(instruction, index, places) for index, instruction in enumerate(real))


def _encode(instruction: Load | Jump | Return, index: int, places: dict[str, int]) -> bytes:
    match instruction:
        case Load(offset):
            return struct.pack("<HBBI", _LOAD_WORD, 0, 0, offset)
        case Return(verdict):
            return struct.pack("<HBBI", _RETURN, 0, 0, verdict)
        case Jump(value, yes, no, bits):
            code = _JUMP_SET if bits else _JUMP_EQUAL
            return struct.pack("<HBBI", code, _far(yes, index, places), _far(no, index, places), value)


def _far(label: str, index: int, places: dict[str, int]) -> int:
    if not label:
        return 0
    far = places[label] - index - 1
    if not 0 <= far <= _FARTHEST_JUMP:
        raise ValueError(
            f"A jump of a filter goes 0 to {_FARTHEST_JUMP} instructions ahead. Received: {label}={far}"
        )
    return far


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


@dataclass(frozen=True, slots=True)
class Machine:
    """One kernel interface: how seccomp names it, and which column of `syscalls.txt` has its numbers."""

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
    """The assembled filter for this machine (or the named one), none when we do not know its numbers."""
    known = MACHINES.get(machine or platform.machine())
    return None if known is None else assemble(_program(known))


def _program(machine: Machine) -> list[Instruction]:
    denied, absent, allowed = Return(refuse(errno.EPERM)), Return(refuse(errno.ENOSYS)), Return(ALLOW)
    numbers = machine.numbers
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
    for name, number in sorted(numbers.items()):
        if name not in _LOOKED_INTO:
            program += _when(number, name, [denied])
    program += _when(numbers["clone3"], "clone3", [absent])
    program += _when(numbers["shmget"], "shmget", [absent])
    # The library then writes the zeros itself, and what is written is counted.
    program += _when(numbers["fallocate"], "fallocate", [Return(refuse(errno.EOPNOTSUPP))])
    for name, looked in (
        ("clone", _by_argument("clone", 0, (_NEW_NAMESPACES,), denied, allowed, bits=True)),
        ("personality", _by_argument("personality", 0, _PLAIN_PERSONALITY, allowed, denied)),
        ("ioctl", _by_argument("ioctl", 1, _TERMINAL_INPUT, denied, allowed)),
    ):
        program += _when(numbers[name], name, looked)
    for name in ("socket", "socketpair"):
        program += _when(numbers[name], name, _socket(name))
    return [*program, allowed]


def _when(number: int, name: str, then: list[Instruction]) -> list[Instruction]:
    """`then` must end in a verdict: the number is no longer loaded after it."""
    return [Jump(number, no=f"not {name}"), *then, Label(f"not {name}")]


def _by_argument(
    name: str, index: int, values: tuple[int, ...], then: Return, otherwise: Return, *, bits: bool = False
) -> list[Instruction]:
    """One verdict when the argument is one of the values, or has a bit of one, another when it is not."""
    return [
        Load(argument(index)),
        *(Jump(value, yes=f"{name} matches", bits=bits) for value in values),
        otherwise,
        Label(f"{name} matches"),
        then,
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
