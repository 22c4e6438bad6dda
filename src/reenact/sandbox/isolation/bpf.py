"""A small assembler for the classic BPF programs that seccomp takes.

A program is a list of instructions and labels; jumps name labels, and `assemble` turns them into the
kernel's eight-byte records. Only what a filter of system calls needs is here.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

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
