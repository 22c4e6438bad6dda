"""Rows from a file that somebody else may have made: each column has its form, or the file is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, TypeVar, get_args, get_type_hints

from reenact.errors import JournalDamaged
from reenact.journal.archive import Record
from reenact.journal.artefacts import NAME
from reenact.journal.keys import PATH, PIPELINE, RUN_ID
from reenact.journal.records import Run, Step, is_digest
from reenact.journal.rows import run_of, step_of
from reenact.journal.schema import RENAMED

R = TypeVar("R")
HASH = re.compile(r"[0-9a-f]{40}")
FORMS = {
    "id": RUN_ID,
    "pipeline": PIPELINE,
    "path": PATH,
    "reused_from": RUN_ID,
    "key": HASH,
    "request_hash": HASH,
    "mac": re.compile(r"([0-9a-f]{64})?"),
    "money": re.compile(r"\d{1,20}(\.\d{1,30})?(E[+-]?\d{1,2})?"),
}
JSON_COLUMNS = ("request", "argv", "verdict", "artefacts", "inputs", "result")
LONGEST_TEXT = 1 << 18
LARGEST_NUMBER = 1 << 63
DEEPEST = 64


def formed_run(record: Record) -> Run:
    """The run in a record. Raises ValueError in words."""
    expect(record.kind == "run", "its first part is not a run")
    columns = _columns(record, _types(Run))
    run = _proven(lambda: run_of(tuple(columns.values())))
    words = json.loads(run.argv)
    fits = isinstance(words, list) and all(isinstance(word, str) for word in words)
    expect(fits, "its command is not a list of words")
    return run


def formed_step(record: Record) -> tuple[Step, str, str]:
    """The step in a record, its inputs and its result. Raises ValueError in words."""
    columns = _columns(record, {**_types(Step), "inputs": (str,), "result": (str,)})
    inputs, result = columns.pop("inputs"), columns.pop("result")
    step = _proven(lambda: step_of(tuple(columns.values())))
    fits = is_digest(step.inputs_digest, inputs) and is_digest(step.result_digest, result)
    expect(fits, "a step in it is not what was written")
    listed = step.artefact_hashes()
    expect(all(NAME.fullmatch(name) for name in listed), "an artefact in it has no proper name")
    return step, inputs, result


def expect(fulfilled: bool, why_not: str) -> None:
    """What must hold of a file, in words for the one who gave it."""
    if not fulfilled:
        raise ValueError(why_not)


def _types(row: type[Run] | type[Step]) -> dict[str, tuple[type, ...]]:
    """What each column may be; an enum's value is text."""
    hints = get_type_hints(row)
    kinds = {name: get_args(hints[name]) or (hints[name],) for name in row.columns()}
    return {name: tuple(str if issubclass(kind, str) else kind for kind in kinds[name]) for name in kinds}


def _columns(record: Record, wanted: dict[str, tuple[type, ...]]) -> dict[str, Any]:
    given = json.loads(record.data)
    if isinstance(given, dict):
        # Files from before rows were signed have no such column; the pipeline's had another name.
        old, new = RENAMED.split(" TO ")
        given = {"mac": "", **{new if name == old else name: value for name, value in given.items()}}
    expect(isinstance(given, dict) and set(given) == set(wanted), f"a {record.kind} in it has other columns")
    for name, kinds in wanted.items():
        expect(type(given[name]) in kinds, f"{name} is of the wrong kind")
        _check(name, given[name])
    return {name: given[name] for name in wanted}


def _check(name: str, value: object) -> None:
    if isinstance(value, int | float):
        expect(math.isfinite(value) and abs(value) < LARGEST_NUMBER, f"{name} is too large")
    elif isinstance(value, str):
        expect(len(value) <= LONGEST_TEXT, f"{name} is too long")
        value.encode("utf-8")
        expect(name not in FORMS or bool(FORMS[name].fullmatch(value)), f"{name} has not its form")
        if name in JSON_COLUMNS and value:
            expect(_depth(json.loads(value)) <= DEEPEST, f"{name} is nested too deeply")


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return depth


def _proven(read: Callable[[], R]) -> R:
    try:
        return read()
    except (JournalDamaged, TypeError) as error:
        raise ValueError("its check sums do not hold") from error
