"""The knobs that each program of the corpus is stated to have, and no others of the kinds that are listed
in full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reenact.program.framework import framework_of
from reenact.program.knob import Knob, Written
from reenact.program.knobs import knobs_of
from reenact.program.program import Program, read_program

CORPUS = Path(__file__).parent.parent / "corpus"
NAMES = sorted(path.parent.name for path in CORPUS.glob("*/expected.json"))
IN_FULL = frozenset(
    [
        "batch-size",
        "learning-rate",
        "epochs",
        "loss",
        "optimizer",
        "activation",
        "dropout",
        "weight-decay",
        "momentum",
        "units",
        "filters",
        "kernel-size",
        "weight-init",
        "bias-init",
        "weight-regularizer",
        "normalization",
        "scheduler",
        "gradient-clip",
        "validation",
        "shuffle",
    ]
)


def load(name: str) -> tuple[Program, dict]:
    stated = json.loads((CORPUS / name / "expected.json").read_text(encoding="utf-8"))
    return read_program(stated["entry"], CORPUS / name), stated


def where(program: Program, knob: Knob) -> tuple[str, int, int]:
    cell = program.cell(knob.place)
    return (str(knob.place.file), *(cell if cell is not None else (-1, knob.place.line)))


def same_value(knob: Knob, value: object) -> bool:
    candidates = [knob.value, knob.computed]
    if isinstance(value, str):
        plain = value.lower().replace("_", "")
        return any(isinstance(c, str) and _known(c) == _known(plain) for c in candidates)
    return any(c == value and isinstance(c, bool) == isinstance(value, bool) for c in candidates)


def _known(word: str) -> str:
    plain = word.lower().replace("_", "")
    return {"swish": "silu"}.get(plain, plain)


def fits(program: Program, knob: Knob, stated: dict) -> bool:
    file, cell, line = where(program, knob)
    first, last = stated.get("lines", [stated["line"], stated["line"]])
    if stated["kind"] not in (knob.kind.value, *(kind.value for kind in knob.also)):
        return False
    if file != stated["file"] or cell != stated.get("cell", -1) or not first <= line <= last:
        return False
    if stated["value"] is None:
        return knob.written is Written.ABSENT
    written = stated["written"] if isinstance(stated["written"], list) else [stated["written"]]
    return same_value(knob, stated["value"]) and knob.text == stated["text"] and knob.written.value in written


@pytest.mark.parametrize("name", NAMES)
def test_every_stated_knob_is_found(name: str) -> None:
    program, stated = load(name)
    knobs = knobs_of(program)
    missing = [
        item
        for item in stated["knobs"]
        if not item.get("optional") and not any(fits(program, knob, item) for knob in knobs)
    ]
    assert not missing


@pytest.mark.parametrize("name", NAMES)
def test_nothing_else_is_reported(name: str) -> None:
    program, stated = load(name)
    extra = [
        (str(knob.id), where(program, knob), knob.value, knob.text)
        for knob in knobs_of(program)
        if knob.kind.value in IN_FULL
        and knob.written is not Written.ABSENT
        and not any(fits(program, knob, item) for item in stated["knobs"])
    ]
    assert not extra


@pytest.mark.parametrize("name", NAMES)
def test_what_the_command_line_replaces_is_said(name: str) -> None:
    program, stated = load(name)
    for item in stated["knobs"]:
        if item.get("overridden", "").startswith("-"):
            knob = next(knob for knob in knobs_of(program) if fits(program, knob, item))
            assert (knob.overridden, knob.default) == (item["overridden"], item["default"])


@pytest.mark.parametrize("name", NAMES)
def test_the_framework_is_recognised(name: str) -> None:
    program, stated = load(name)
    assert framework_of(program).value == stated["framework"]
