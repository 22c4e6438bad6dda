"""What a diagnosis shows of a program, and whether another one shows the same."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.blind.cases import Case
from benchmarks.blind.inside import SECONDS
from benchmarks.blind.rewrites.text import Project
from benchmarks.blind.transcript import Transcript, read_transcript
from benchmarks.blind.warm.interpreter import OURS, STEADY, warm
from benchmarks.children import environment
from benchmarks.dataset.own import MOST_OUTPUT, START_AND_END
from benchmarks.dataset.ran import Ran, read_answer
from benchmarks.dataset.result import TrainingDiagnosis


@dataclass(frozen=True, slots=True)
class Shown:
    """One fault at one place."""

    fault: str
    detector: str
    """That names it."""
    file: str
    """Relative to the program's folder; empty where it has no place."""
    lines: tuple[int, ...]
    """Of the original program: several where a rewritten line says what several did."""

    def is_like(self, other: Shown) -> bool:
        """Whether both may be of the same line."""
        return (
            self.fault == other.fault
            and self.file == other.file
            and (self.lines == other.lines or not set(self.lines).isdisjoint(other.lines))
        )

    def __str__(self) -> str:
        where = f" {self.file}:{'/'.join(map(str, self.lines))}" if self.file else ""
        named = f"{self.fault} ({self.detector})" if self.fault != self.detector else self.fault
        return f"{named}{where}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is shown of one program."""

    shown: tuple[Shown, ...] = ()
    doubted: tuple[Shown, ...] = ()
    """Worth a look: below the threshold."""
    diagnosis: TrainingDiagnosis | None = None
    """As the data set scores it; its places are of the original."""
    failed: str = ""
    """Why there is no diagnosis."""


def lost(before: Sequence[Shown], after: Sequence[Shown]) -> tuple[Shown, ...]:
    """What the first shows and the second does not."""
    return tuple(one for one in before if not any(one.is_like(other) for other in after))


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """What is shown of a program, and what its watched run printed and differentiated."""

    verdict: Verdict
    transcript: Transcript | None = None
    """None where nothing was run to its end."""


def diagnose(case: Case, depth: str, project: Project | None = None) -> Diagnosed:
    """Diagnose a program in a copy of its folder, with places in the original."""
    with tempfile.TemporaryDirectory(prefix="reenact-blind-") as scratch:
        folder = case.copy(Path(scratch), project)
        answer, noted = Path(scratch) / "answer.json", Path(scratch) / "transcript.json"
        interpreters = [warm((OURS,)), *([] if depth == "static" else [warm(case.modules)])]
        command = [str(interpreters[0].python), "-m", "benchmarks.blind.inside"]
        virtual = str(interpreters[-1].folder) if depth != "static" else ""
        try:
            ended = subprocess.run(  # noqa: S603 - our own module
                [*command, depth, str(answer), str(noted), *case.words],
                cwd=folder,
                env=environment(**STEADY, VIRTUAL_ENV=virtual),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS + START_AND_END,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Diagnosed(Verdict(failed="no answer within its time"))
        for interpreter in interpreters:
            interpreter.check()
        transcript = read_transcript(noted, scratch)
        if not answer.is_file():
            why = f"exit code {ended.returncode}: {ended.stderr[-MOST_OUTPUT:]}"
            return Diagnosed(Verdict(failed=why), transcript)
        facts = json.loads(answer.read_bytes())
    return Diagnosed(verdict(case.name, depth, facts, project), transcript)


def verdict(name: str, depth: str, facts: dict[str, Any], project: Project | None) -> Verdict:
    """What was written next to the program, mapped back."""
    shown = tuple(_mapped(one, project) for one in facts.pop("shown"))
    doubted = tuple(_mapped(one, project) for one in facts.pop("doubted"))
    blank = TrainingDiagnosis(name, depth, "", "")
    reported = read_answer(Ran(answer=json.dumps(facts).encode()), blank)
    if reported.could_not_run:
        return Verdict(failed=reported.could_not_run)
    return Verdict(
        tuple(dict.fromkeys(shown)), tuple(dict.fromkeys(doubted)), _back(reported, project)
    )


def _mapped(shown: Sequence[Any], project: Project | None) -> Shown:
    fault, detector, file, line = shown
    return Shown(fault, detector, file, _lines(file, line, line, project) if file else ())


def _lines(file: str, first: int, last: int, project: Project | None) -> tuple[int, ...]:
    """Lines of the original; the file may be named without its folder."""
    sources = {} if project is None else project.files
    source = sources.get(file) or next(
        (source for path, source in sources.items() if Path(path).name == file), None
    )
    if source is None:
        return (first,) if first == last else (first, last)
    lines = frozenset().union(*source.origins[first - 1 : last])
    return tuple(sorted(lines))


def _back(reported: TrainingDiagnosis, project: Project | None) -> TrainingDiagnosis:
    """With the places of the original."""
    sides = {
        name: tuple(
            replace(
                one,
                places=tuple(
                    (file, lines[0], lines[-1])
                    for file, first, last in one.places
                    if (lines := _lines(file, first, last, project))
                ),
            )
            for one in getattr(reported, name)
        )
        for name in ("findings", "doubts", "symptoms")
    }
    return replace(
        reported, findings=sides["findings"], doubts=sides["doubts"], symptoms=sides["symptoms"]
    )
