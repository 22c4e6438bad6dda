"""Alternative ground truths of our own: `reenact neutral` over the programs of the benchmark.

They stand in `cases/faults/own.json`, with the scale and the budget they were found at, and give a column of
their own: the headline takes published ones alone.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.children import ROOT
from benchmarks.faults.case import FaultCase, Scale, Side
from benchmarks.faults.programs import materialise
from benchmarks.faults.scores import Truth, parse_truth
from reenact.diagnosis.services import DiagnoseServices
from reenact.journal import Journal
from reenact.program.patch import Patch
from reenact.program.program import Program, read_program
from reenact.program.static_graph import static_graph
from reenact.repairs.alternatives import AlternativesOptions, analyse, faults_of
from reenact.types import Progress, Stop, Tell, tell_nobody

FILE = "own.json"
NOT_COUNTED = ("input", "composite", "wrapper")
"""Layers that the study gives no number."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What one walk found."""

    scale: str
    budget: str
    trained: int
    """Changed programs that were trained."""
    ended: str
    alternatives: tuple[str, ...]
    """Each a ground truth: `ACH(0), LCH`."""


def shipped(scale: Scale) -> dict[str, tuple[Truth, ...]]:
    """What earlier walks at this scale found, by fault."""
    source = ROOT / "benchmarks" / "cases" / "faults" / FILE
    return truths(json.loads(source.read_text(encoding="utf-8")), scale) if source.is_file() else {}


def truths(walks: Mapping[str, Mapping[str, object]], scale: Scale) -> dict[str, tuple[Truth, ...]]:
    """Ground truths of the walks at this scale."""
    found = {}
    for case, walk in walks.items():
        listed = walk["alternatives"]
        if walk["scale"] == scale.value and isinstance(listed, list):
            found[case] = tuple(parse_truth(text) for text in listed)
    return found


def walk_all(
    cases: Sequence[FaultCase],
    scale: Scale,
    budget: str,
    file: Path,
    *,
    tell: Tell = tell_nobody,
    stop: Stop,
) -> dict[str, Walk]:
    """Walk from each buggy program, the fixed one as the known repair; the file is written
    after each.
    """
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    found = {}
    for number, case in enumerate(cases):
        if stop.asked:
            break
        tell(Progress("neutral", number, len(cases), case.id))
        found[case.id] = _walk(case, scale, budget, stop)
        known[case.id] = asdict(found[case.id])
        file.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return found


def _walk(case: FaultCase, scale: Scale, budget: str, stop: Stop) -> Walk:
    with (
        tempfile.TemporaryDirectory(prefix="reenact-neutral-") as scratch,
        Journal.in_memory() as journal,
    ):
        programs = {side: _program(case, side, scale, Path(scratch) / side) for side in Side}
        with Path(os.devnull).open("wb") as nowhere:
            services = DiagnoseServices(
                journal=journal,
                traces=Path(scratch) / "traces",
                stop=stop,
                stdout=nowhere,
            )
            graph = analyse(
                programs[Side.BUGGY],
                AlternativesOptions(budget),
                services,
                programs[Side.FIXED],
            )
        layers = numbers(programs[Side.BUGGY])
        listed = dict.fromkeys(in_words(node.patch, layers) for node in graph.alternatives)
    return Walk(scale.value, budget, graph.trained, graph.ended, tuple(listed))


def _program(case: FaultCase, side: Side, scale: Scale, folder: Path) -> Program:
    entry = materialise(case, side, scale, folder)
    return read_program((str(entry),), entry.parent)


def numbers(program: Program) -> dict[str, int]:
    """Names of layers to the study's numbers."""
    counted = [one.name for one in static_graph(program).layers if one.family not in NOT_COUNTED]
    return {name: number for number, name in enumerate(counted)}


def in_words(patch: Patch, layers: Mapping[str, int]) -> str:
    """A repair as a ground truth, one entry a type, with all its layers."""
    of_type: dict[str, set[int]] = {}
    for fault, layer in faults_of(patch):
        of_type.setdefault(fault.value, set()).update({layers[layer]} if layer in layers else ())
    entries = [
        f"{fault}({','.join(map(str, sorted(found)))})" if found else fault
        for fault, found in sorted(of_type.items())
    ]
    return ", ".join(entries)
