"""The small programs that are trained, each in a folder of its own."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.case import Scale, Side
from benchmarks.faults.cases import fault_case
from benchmarks.faults.programs import ENTRY, availability, materialise
from reenact.program.program import Program, read_program

FAULTS = {"D1": "vectors", "D7": "line", "D13": "iris"}
"""Programs of the fault benchmark, in their fixed form, and what is trained there."""
RING = Path(__file__).parents[1] / "cases" / "speed" / "torch_ring.py"


@dataclass(frozen=True, slots=True)
class Case:
    """One program to be trained many times."""

    name: str
    folder: Path
    keras: bool

    @property
    def program(self) -> Program:
        return read_program([ENTRY], self.folder)


def write_cases(folder: Path) -> list[Case]:
    """Write every program whose data is here."""
    found = []
    for fault, name in FAULTS.items():
        case = fault_case(fault)
        if availability(case).runnable:
            materialise(case, Side.FIXED, Scale.LITE, folder / fault)
            found.append(Case(f"{fault} {name}", folder / fault, keras=True))
    (folder / "ring").mkdir(parents=True)
    shutil.copyfile(RING, folder / "ring" / ENTRY)
    found.append(Case("ring (torch)", folder / "ring", keras=False))
    return found
