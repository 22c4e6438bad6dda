from __future__ import annotations

import struct

import pytest

from reenact.sandbox.isolation.seccomp import ALLOW, Jump, Label, Load, Return, assemble


def test_a_program_as_the_kernel_reads_it() -> None:
    program = assemble(
        [Load(0), Jump(57, yes="end", no="other"), Label("other"), Return(1), Label("end"), Return(ALLOW)]
    )
    assert [struct.unpack("<HBBI", program[at : at + 8]) for at in range(0, len(program), 8)] == [
        (0x20, 0, 0, 0),
        (0x15, 1, 0, 57),
        (0x06, 0, 0, 1),
        (0x06, 0, 0, ALLOW),
    ]


def test_a_jump_back_or_too_far_is_refused() -> None:
    with pytest.raises(ValueError, match="instructions ahead"):
        assemble([Label("start"), Load(0), Jump(1, yes="start"), Return(0)])
    with pytest.raises(ValueError, match="instructions ahead"):
        assemble([Jump(1, yes="end"), *[Load(0)] * 256, Label("end"), Return(0)])
