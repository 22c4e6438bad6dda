"""The source that a diagnosis accuses, as it stood: for readers of the run after the file has changed."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.program.program import Program
from reenact.rules.finding import Finding
from reenact.types import JsonValue


def accused_source(found: Diagnosis) -> list[JsonValue]:
    """Every file in which a finding lies: its text, and the places with the rule that names each."""
    program = found.evidence.program
    if program is None:
        return []
    named: dict[str, list[JsonValue]] = {}
    for one in _findings(found):
        if one.place is not None:
            named.setdefault(str(one.place.file), []).append(_mark(one))
    return [{"file": file, "text": _text(program, file), "marks": marks} for file, marks in named.items()]


def _findings(found: Diagnosis) -> Iterator[Finding]:
    suspects = [*(one.suspect for one in (*found.accusations, *found.doubts)), *found.symptoms]
    for suspect in suspects:
        yield from suspect.witnesses


def _mark(one: Finding) -> JsonValue:
    assert one.place is not None
    return {
        "code": one.code,
        "name": one.name,
        "line": one.place.line,
        "column": one.place.column,
        "end_line": one.place.end_line,
        "end_column": one.place.end_column,
    }


def _text(program: Program, file: str) -> str:
    """A notebook is read as the script that its places count in."""
    if program.is_notebook and file == str(program.entry):
        return program.script()
    found = program.file(file)
    return found.text if found is not None else ""
