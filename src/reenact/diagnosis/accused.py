"""The source that a diagnosis accuses, as it stood: for readers of the run after the file has changed."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.program.program import Program
from reenact.types import Place


@dataclass(frozen=True, slots=True)
class Named:
    """A place, and the rule that names it."""

    code: str
    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file in which a finding lies."""

    file: str
    text: str
    marks: tuple[Named, ...]


def accused_source(found: Diagnosis) -> tuple[SourceFile, ...]:
    """Every file in which a finding lies: its text, and the places with the rule that names each."""
    program = found.evidence.program
    if program is None:
        return ()
    suspects = [*(one.suspect for one in (*found.findings, *found.low_confidence)), *found.symptoms]
    named: dict[str, list[Named]] = {}
    for one in (witness for suspect in suspects for witness in suspect.witnesses):
        if one.place is not None:
            named.setdefault(str(one.place.file), []).append(Named(one.code, one.name, one.place))
    return tuple(SourceFile(file, _text(program, file), tuple(marks)) for file, marks in named.items())


def _text(program: Program, file: str) -> str:
    """A notebook is read as the script that its places count in."""
    if program.is_notebook and file == str(program.entry):
        return program.script()
    found = program.file(file)
    return found.text if found is not None else ""
