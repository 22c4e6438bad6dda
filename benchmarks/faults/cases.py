"""The catalogue of the fault benchmark, read from `cases/faults/`.

One folder a fault: `case.json` with the facts, `buggy.py` and `fixed.py` where the program could be written.
Ids are those of the repair half of the study (its Tables 2, 4 and 9); the localisation half numbers M1-M3
differently, which `fl_id` keeps. Layers are counted as Keras counts `model.layers`, from 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources.abc import Traversable
from typing import Any

from benchmarks.children import ROOT
from benchmarks.faults.case import (
    FaultCase,
    Planted,
    Published,
    PublishedMeans,
    Repaired,
    Scale,
    Side,
)
from benchmarks.faults.scores import FAMILY, Score, Spot, Truth, parse_truth
from reenact.errors import InputError
from reenact.faults.fault_type import FaultType
from reenact.program.graph import TaskType
from reenact.program.hyperparameter import Kind

ORDER = ("M", "C", "R", "D", "U", "A", "UD")


@cache
def catalogue() -> tuple[FaultCase, ...]:
    """Every fault, those without data or program included, in the order of the study."""
    found = [_read(entry) for entry in _folder().iterdir() if (entry / "case.json").is_file()]
    return tuple(sorted(found, key=lambda case: (not case.study, _by_number(case.id))))


def fault_case(name: str) -> FaultCase:
    """The case of this id."""
    for case in catalogue():
        if case.id == name:
            return case
    raise InputError(
        f"There is no fault {name} in the benchmark.",
        next_step=f"Known ones: {', '.join(case.id for case in catalogue())}.",
    )


def helper_text() -> str:
    """The file that the programs import their data from."""
    return (_folder() / "dataset.py").read_text(encoding="utf-8")


def source_text(case: FaultCase, side: Side, scale: Scale) -> str:
    """The program's source at this scale."""
    if not case.written:
        raise InputError(f"The benchmark holds no program for {case.id}.", next_step=case.notes)
    text = (_folder() / case.id / f"{side}.py").read_text(encoding="utf-8")
    changes = {
        Scale.LITE: case.lite,
        Scale.FIRST: case.lite + case.first,
        Scale.FULL: (),
    }
    for old, new in changes[scale]:
        text = text.replace(old, new)
    return text


@cache
def published_means() -> PublishedMeans:
    """The averages that the study prints."""
    facts = json.loads((_folder() / "published.json").read_text(encoding="utf-8"))
    scored = {
        half: {group: _scores(tools) for group, tools in facts[half].items()}
        for half in ("before", "after")
    }
    return PublishedMeans(**{**facts, **scored})


def _folder() -> Traversable:
    return ROOT / "benchmarks" / "cases" / "faults"


def _by_number(name: str) -> tuple[int, int]:
    letters = name.rstrip("0123456789")
    return ORDER.index(letters), int(name.removeprefix(letters))


def _read(entry: Traversable) -> FaultCase:
    facts = json.loads((entry / "case.json").read_text(encoding="utf-8"))
    planted = tuple(_planted(fault) for fault in facts["faults"])
    others = facts["alternatives"] or {
        "nodes": None,
        "parameters": None,
        "means": {},
        "sets": [],
    }
    means = others["means"]
    lite = facts["lite"] or {"says": "", "replace": []}
    return FaultCase(
        id=facts["id"],
        fl_id=facts["fl_id"],
        title=facts["title"],
        origin=facts["origin"],
        study=facts["study"],
        repair_study=facts["repair_study"],
        source=facts["source"],
        task=TaskType(facts["task"]),
        data=tuple(facts["data"]),
        metric=facts["metric"]["name"],
        larger_is_better=facts["metric"]["larger_is_better"],
        faults=planted,
        truth=_truth(planted),
        alternatives=_alternatives(others["sets"], means),
        alternatives_as_published=_alternatives(
            others["sets"], {**means, **others.get("published_means", {})}
        ),
        nodes=others["nodes"],
        parameters=others["parameters"],
        lite_says=lite["says"],
        lite=tuple((old, new) for old, new in lite["replace"]),
        first=tuple((old, new) for old, new in lite.get("first", ())),
        written=(entry / "buggy.py").is_file(),
        published=_published(facts["published"]),
        notes=facts["notes"],
    )


def _planted(fault: Mapping[str, Any]) -> Planted:
    return Planted(
        fault=FaultType(fault["type"]),
        layer=fault["layer"],
        kind=Kind(fault["kind"]),
        line=fault["line"],
        old=fault["old"],
        new=fault["new"],
        lite_old=fault.get("lite_old", fault["old"]),
        lite_new=fault.get("lite_new", fault["new"]),
    )


def _truth(planted: tuple[Planted, ...]) -> Truth:
    layers: dict[FaultType, set[int]] = {}
    for one in planted:
        of_type = layers.setdefault(FAMILY.get(one.fault, one.fault), set())
        of_type.update(() if one.layer is None else (one.layer,))
    return tuple(Spot(frozenset({fault}), frozenset(found)) for fault, found in layers.items())


def _alternatives(sets: list[list[str]], means: Mapping[str, str]) -> tuple[Truth, ...]:
    return tuple(
        tuple(spot for name in names for spot in parse_truth(means[name])) for names in sets
    )


def _published(facts: Mapping[str, Any]) -> Published:
    repair = facts.get("repair", {})
    tools = {
        name: value for name, value in repair.items() if name not in ("faulty", "ground_truth")
    }
    return Published(
        truth=facts.get("truth", ""),
        outputs=facts.get("outputs", {}),
        credited=facts.get("credited", {}),
        before=_scores(facts.get("before", {})),
        after=_scores(facts.get("after", {})),
        seconds=facts.get("seconds", {}),
        faulty_metric=repair.get("faulty"),
        fixed_metric=repair.get("ground_truth"),
        repairs={
            name: Repaired(**value) if isinstance(value, dict) else None
            for name, value in tools.items()
        },
    )


def _scores(tools: Mapping[str, list[float]]) -> dict[str, Score]:
    return {tool: Score(*values) for tool, values in tools.items()}
