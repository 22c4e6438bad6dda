"""Sampled tests and the early-exit dry run of a project, in the sandbox, by our own driver."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from reenact.errors import ResultRefused
from reenact.journal import Scope
from reenact.paper.develop.problem import Problem, Where
from reenact.paper.develop.workshop import Ran, Workshop
from reenact.paper.project import ENTRY, METRICS, Project
from reenact.sandbox.files.strict_json import read_json
from reenact.types import JsonValue

STEPS = 40
"""Repetitions of one batch in which a sound loss must fall."""
SHARE = 0.6
"""Of the wall time: the driver stops training by itself before the box is ended."""
RESULT = "result-WORD.json"
INSIDE = ("__init__.py", "driver.py", "batch.py", "method.py", "report.py")
FOLDER = "reenact_inside"
_FRAME = re.compile(r'File "(?:[^"]*/)?box/work/([^"]+)", line (\d+)')
_LAST = re.compile(r"^(\w[\w.]*(?:Error|Exception|Interrupt|Exit|Warning)\b.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a test."""

    problems: tuple[Problem, ...]
    facts: tuple[str, ...] = ()
    stand_in: str = ""
    """What the project says of data that it made up; empty when they are the real ones."""


def try_batch(project: Project, shop: Workshop, scope: Scope) -> Tried:
    """One mini-batch, for its shapes, types and ranges."""
    return _driven("batch", Where.BATCH, project, shop, scope)


def try_method(project: Project, shop: Workshop, scope: Scope) -> Tried:
    """Forward and backward on one batch, declared shapes, a loss that is finite and falls."""
    return _driven("method", Where.METHOD, project, shop, scope)


def _driven(mode: str, where: Where, project: Project, shop: Workshop, scope: Scope) -> Tried:
    wall_s = shop.wishes.wall_s
    ran = shop.run(
        mode, scope, project, ("-m", f"{FOLDER}.driver"), limits=shop.limits(wall_s), collect=(RESULT,),
        extra=inside(),
        task={"mode": mode, "steps": STEPS, "seconds": SHARE * wall_s},
    )  # fmt: skip
    try:
        told = read_json(ran.results.get(RESULT, "").encode())
    except ResultRefused:
        return Tried((crash(ran, where),))
    if not isinstance(told, dict) or not ran.ok:
        return Tried((crash(ran, where),))
    problems = tuple(
        Problem(where, str(one["sentence"]), str(one["file"]), int(str(one["line"])), ran.output)
        for one in _list(told.get("problems"))
        if isinstance(one, dict)
    )
    facts = tuple(str(one) for one in _list(told.get("facts")))
    return Tried(problems, facts, str(told.get("stand_in") or ""))


def dry_run(project: Project, shop: Workshop, scope: Scope) -> Tried:
    """The whole experiment with an early exit: it must end well and leave finite metrics."""
    ran = shop.run(
        "dry-run", scope, project, (ENTRY, "--seed", "0", "--dry-run", *scaled(shop)),
        limits=shop.limits(shop.wishes.wall_s), collect=(METRICS,),
    )  # fmt: skip
    if not ran.ok:
        return Tried((crash(ran, Where.DRY_RUN),))
    metrics, wrong = metrics_in(ran)
    if wrong:
        return Tried((Problem(Where.DRY_RUN, wrong, ENTRY, output=ran.output),))
    return Tried((), (f"The dry run ends well and leaves the metrics {', '.join(sorted(metrics))}.",))


def scaled(shop: Workshop) -> tuple[str, ...]:
    """The words that ask for a reduced training; none for the whole."""
    return ("--scale", f"{shop.wishes.scale:g}") if shop.wishes.scale != 1 else ()


def metrics_in(ran: Ran) -> tuple[dict[str, float], str]:
    """The metrics that a run left, or a sentence that says what is wrong with them."""
    if METRICS not in ran.results:
        return {}, f"The run ended well but left no {METRICS}."
    try:
        told = read_json(ran.results[METRICS].encode())
    except ResultRefused as error:
        return {}, f"{METRICS} cannot be used. {error.sentence}"
    if not isinstance(told, dict) or not told:
        return {}, f"{METRICS} must hold an object of metric names and numbers, and at least one of them."
    for name, value in told.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return {}, f"{METRICS} must be flat names with finite numbers. Received: {name}={value!r}."
    return {name: float(str(value)) for name, value in told.items()}, ""


def crash(ran: Ran, where: Where) -> Problem:
    """A run that did not end well: its last error and innermost line of project code."""
    said = _LAST.findall(ran.output)
    frames = [found for found in _FRAME.findall(ran.output) if not found[0].startswith(FOLDER)]
    file, line = frames[-1] if frames else ("", "0")
    sentence = f"{ran.sentence} {said[-1][:1500]}" if said else ran.sentence
    return Problem(where, sentence, file, int(line), ran.output)


@cache
def inside() -> dict[str, bytes]:
    """The driver's own files."""
    folder = files("reenact.paper.develop.inside")
    return {f"{FOLDER}/{name}": folder.joinpath(name).read_bytes() for name in INSIDE}


def _list(value: JsonValue) -> list[JsonValue]:
    return list(value) if isinstance(value, list) else []
