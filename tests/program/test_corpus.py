"""The hyperparameters that each program of the corpus is stated to have, and no others of the kinds
that are listed in full.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reenact.program.hyperparameter import Hyperparameter, Written
from reenact.program.program import Program, read_program
from reenact.program.static_graph import hyperparameters_of
from reenact.program.training.framework import framework_of

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


def where(program: Program, param: Hyperparameter) -> tuple[str, int, int]:
    cell = program.cell(param.place)
    return (
        str(param.place.file),
        *(cell if cell is not None else (-1, param.place.line)),
    )


def same_value(param: Hyperparameter, value: object) -> bool:
    candidates = [param.value, param.computed]
    if isinstance(value, str):
        plain = value.lower().replace("_", "")
        return any(isinstance(c, str) and _known(c) == _known(plain) for c in candidates)
    return any(c == value and isinstance(c, bool) == isinstance(value, bool) for c in candidates)


def _known(word: str) -> str:
    plain = word.lower().replace("_", "")
    return {"swish": "silu"}.get(plain, plain)


def fits(program: Program, param: Hyperparameter, stated: dict) -> bool:
    file, cell, line = where(program, param)
    first, last = stated.get("lines", [stated["line"], stated["line"]])
    if stated["kind"] not in (param.kind.value, *(kind.value for kind in param.also)):
        return False
    if file != stated["file"] or cell != stated.get("cell", -1) or not first <= line <= last:
        return False
    if stated["value"] is None:
        return param.written is Written.ABSENT
    written = stated["written"] if isinstance(stated["written"], list) else [stated["written"]]
    return (
        same_value(param, stated["value"])
        and param.text == stated["text"]
        and param.written.value in written
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_stated_hyperparameter_is_found(name: str) -> None:
    program, stated = load(name)
    params = hyperparameters_of(program)
    missing = [
        item
        for item in stated["knobs"]
        if not item.get("optional") and not any(fits(program, param, item) for param in params)
    ]
    assert not missing


@pytest.mark.parametrize("name", NAMES)
def test_nothing_else_is_reported(name: str) -> None:
    program, stated = load(name)
    extra = [
        (str(param.id), where(program, param), param.value, param.text)
        for param in hyperparameters_of(program)
        if param.kind.value in IN_FULL
        and param.written is not Written.ABSENT
        and not any(fits(program, param, item) for item in stated["knobs"])
    ]
    assert not extra


@pytest.mark.parametrize("name", NAMES)
def test_what_the_command_line_replaces_is_reported(name: str) -> None:
    program, stated = load(name)
    for item in stated["knobs"]:
        if item.get("overridden", "").startswith("-"):
            param = next(
                param for param in hyperparameters_of(program) if fits(program, param, item)
            )
            assert (param.overridden, param.default) == (
                item["overridden"],
                item["default"],
            )


@pytest.mark.parametrize("name", NAMES)
def test_the_framework_is_recognised(name: str) -> None:
    program, stated = load(name)
    assert framework_of(program).value == stated["framework"]
