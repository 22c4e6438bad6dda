"""The filter: its jumps lead to its two answers, for every call that it asks about."""

from __future__ import annotations

import struct

import pytest

from reenact.probe.looks.calls import CALLS, Machine, this_machine

MACHINES = {
    "x86_64": Machine(
        0xC000003E, 317, {one.x86_64: one for one in CALLS if one.x86_64 is not None}
    ),
    "aarch64": Machine(
        0xC00000B7, 277, {one.aarch64: one for one in CALLS if one.aarch64 is not None}
    ),
}
ALLOW, ASK = 0x7FFF0000, 0x7FC00000


def answer(program: bytes, number: int, architecture: int, fifth: int = 0) -> int:
    """What the filter returns: a small interpreter of the instructions that it uses."""
    steps = list(struct.iter_unpack("=HBBI", program))
    words = {0: number, 4: architecture, 48: fifth}
    at = value = 0
    while True:
        code, then, otherwise, constant = steps[at]
        if code == 0x06:
            return int(constant)
        if code == 0x20:
            value, at = words[constant], at + 1
            continue
        holds = value == constant if code == 0x15 else value >= constant
        at += 1 + (then if holds else otherwise)


@pytest.mark.parametrize("name", MACHINES)
def test_it_asks_about_looks_and_lets_all_others_go_on(name: str) -> None:
    machine = MACHINES[name]
    program = machine.filter()
    for number in range(600):
        call = machine.calls.get(number)
        wanted = ASK if call is not None and call.name != "sendto" else ALLOW
        assert answer(program, number, machine.architecture) == wanted, number
    sendto = next(number for number, call in machine.calls.items() if call.name == "sendto")
    assert answer(program, sendto, machine.architecture, fifth=0x1000) == ASK
    assert answer(program, 0, 0x40000003) == ASK, "another processor"
    assert answer(program, 0x40000002, machine.architecture) == ASK, "x32"


def test_no_two_calls_have_one_number() -> None:
    for machine, column in (
        (MACHINES["x86_64"], "x86_64"),
        (MACHINES["aarch64"], "aarch64"),
    ):
        assert len(machine.calls) == sum(getattr(call, column) is not None for call in CALLS)


def test_this_machine_is_one_of_them() -> None:
    machine = this_machine()
    assert machine is None or machine in MACHINES.values()
