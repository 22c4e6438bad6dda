"""`hyperparameters`, `list_rules`, `explain`, `load_run`: what a program sets, which faults are
looked for and by what, what a word means, what came of a recorded run.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from reenact.api.session import File, program_of
from reenact.errors import InputError, ReenactError, UnreadableProgram
from reenact.result import Result, encoded
from reenact.settings import Settings, field_texts, resolve
from reenact.types import ExitCode, JsonValue

if TYPE_CHECKING:
    from reenact.faults.detector import Detector
    from reenact.faults.entry import FaultEntry
    from reenact.journal import JournalReader, Run
    from reenact.program.hyperparameter import Hyperparameter
    from reenact.program.program import Program
    from reenact.program.static_graph import StaticGraph
    from reenact.program.training.framework import Framework
    from reenact.program.training.static_layer import StaticLayer
    from reenact.report.document import Document


MOST_NAMED = 8
"""Detectors that a word is answered with."""
MOST_LOOKED_AT = 100
"""Runs among which the newest with a result is looked for."""


@dataclass(frozen=True, slots=True, repr=False)
class Hyperparameters(Result):
    """A program as its text makes it."""

    program: Program
    graph: StaticGraph

    @property
    def framework(self) -> Framework:
        """torch, keras, ..."""
        return self.graph.framework

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """Every hyperparameter, those that are left to the library too."""
        return self.graph.hyperparameters

    @property
    def layers(self) -> tuple[StaticLayer, ...]:
        """In the order of the text."""
        return self.graph.layers

    def document(self, *, everything: bool = False, layers: bool = False) -> Document:
        from reenact.report.views.static import hyperparameters_document

        data = self.to_dict()
        return hyperparameters_document(
            self.program, self.graph, data, everything=everything, layers=layers
        )

    def in_a_line(self) -> str:
        """The program, and how many hyperparameters it sets."""
        written = sum(not param.absent for param in self.hyperparameters)
        return f"{self.program.entry}: {written} set"

    def to_dict(self) -> dict[str, JsonValue]:
        """Everything, places as a reader writes them."""
        program = self.program
        return {
            "program": list(program.launch.words),
            "framework": self.framework.value,
            "files": [str(file.path) for file in program.files],
            "unparsed": [
                {
                    "file": str(file.path),
                    "reason": file.unparsed,
                }
                for file in program.unparsed
            ],
            "knobs": [
                {**encoded(param), "where": program.where(param.place)}  # type: ignore[dict-item]
                for param in self.hyperparameters
            ],
            "layers": encoded(self.layers),
        }


def hyperparameters(program: File | Sequence[str], *arguments: str) -> Hyperparameters:
    """List the hyperparameters of a training program: kind, value, place and what else each could be.

    The program is read, never run.

    Example:
        for param in reenact.hyperparameters("train.py").hyperparameters:
            print(param.kind, param.value, param.place)

    Returns:
        The program as its text makes it: hyperparameters, layers, framework.
    """
    from reenact.program.static_graph import static_graph

    read = program_of(program, arguments)
    if (broken := read.unparsed) and broken[0].path == read.entry:
        says = f"The program cannot be parsed: {broken[0].unparsed}. Received: {read.entry}."
        raise UnreadableProgram(says, next_step="Fix the source, or name another script.")
    return Hyperparameters(read, static_graph(read))


def list_rules(
    *words: str,
    family: str | None = None,
) -> tuple[Detector, ...]:
    """All detectors, each with the fault that it looks for; or those that one of `words` names: by code,
    prefix, name or family, or by the code, the name or the category of their fault. Where a word names none,
    those whose page speaks of it.

    Example:
        [rule.fault.name for rule in reenact.list_rules("neuralint")]

    Args:
        family: only those of this published tool, such as umlaut.
    """
    from reenact.faults.registry import all_detectors, check_words, chosen, of_family

    own = all_detectors() if family is None else of_family(family)
    if not words:
        return own
    try:
        check_words(words)
    except InputError:
        if found := _speaking_of(words, own):
            return found
        raise
    named = set(chosen(words))
    return tuple(one for one in own if one in named)


def _speaking_of(
    words: Sequence[str],
    detectors: Sequence[Detector],
) -> tuple[Detector, ...]:
    """Detectors with such a word in their name or that of their fault, or else in the page."""
    return _named_with(words, detectors) or tuple(
        one for one in detectors if _among(words, _account(one))
    )


def _named_with(
    words: Sequence[str],
    detectors: Sequence[Detector],
) -> tuple[Detector, ...]:
    return tuple(
        one for one in detectors if _among(words, one.name) or _among(words, one.fault.name)
    )


def _among(words: Sequence[str], text: str) -> bool:
    """Whether one of the words is in a text, however both are written."""
    return any(_flat(word) in _flat(text) for word in words if _flat(word))


def _account(one: Detector) -> str:
    """What is written of a detector and its fault, without the programs."""
    from reenact.faults.page import account_of, page_of

    sections = page_of(one.fault).sections
    return "\n".join(
        [
            one.why,
            account_of(one),
            *(sections[name] for name in ("What", "Why", "Symptom")),
        ]
    )


def _flat(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def explain(word: str, width: int = 100) -> str:
    """What a fault, a detector, an ending, an exit code, a setting, a fault type or a verdict
    means, in lines so wide.
    """
    from reenact.faults.registry import all_detectors, all_faults, fault
    from reenact.report.fault_pages import detector_text, fault_text

    if (found := fault(word)) is not None:
        return fault_text(found, width)
    detectors = {name: one for one in all_detectors() for name in (one.code, one.name)}
    if one := detectors.get(word.upper()) or detectors.get(word.lower()):
        return detector_text(one, width)
    words = known_words()
    known = (name for name in (word, word.lower(), word.upper()) if name in words)
    if (name := next(known, None)) is not None:
        faults = tuple(one for one in all_faults() if name in _studied(one))
        return "\n".join(
            [
                fill(f"{word}: {words[name]}", width),
                *_listed(faults, width),
            ]
        )
    return _closest(word, words, width)


def _closest(
    word: str,
    words: dict[str, str],
    width: int,
) -> str:
    """What begins with a word that names nothing, or speaks of it; raises InputError where
    nothing does.
    """
    from reenact.faults.registry import all_detectors

    detectors = all_detectors()
    names = [
        name for one in detectors for name in (one.code, one.name, one.fault.code, one.fault.name)
    ]
    close = difflib.get_close_matches(
        word,
        [*words, *dict.fromkeys(names)],
        n=3,
    )
    begun = tuple(one for one in detectors if one.code.startswith(word.upper()))
    named = begun or _named_with([word], detectors)
    if found := named or (() if close else _speaking_of([word], detectors)):
        about = "that begin with" if begun else "that speak of"
        lines = (f"  {one.code} {one.name}: {one.why}" for one in found[:MOST_NAMED])
        shown = "\n".join(fill(one, width, subsequent_indent=" " * 8) for one in lines)
        return f"Detectors {about} {word!r}; `reenact explain CODE` shows one of them:\n{shown}"
    # Every word of the pages, so that one that is misspelt is still understood.
    known = sorted({word for one in detectors for word in re.findall(r"\w{4,}", _account(one))})
    close = close or difflib.get_close_matches(
        word,
        known,
        n=1,
        cutoff=0.75,
    )
    hint = (
        f"Did you mean {' or '.join(close)}?"
        if close
        else "`reenact rules` lists faults and detectors."
    )
    raise InputError(f"Nothing is known about {word!r}.", next_step=hint)


def _studied(fault: FaultEntry) -> set[str]:
    """The fault types of the study that detectors of a fault speak of."""
    from reenact.faults.registry import detectors_of

    return {one.study.value for one in detectors_of(fault) if one.study is not None}


def _listed(faults: Sequence[FaultEntry], width: int) -> Iterator[str]:
    """Faults, one a line, for the end of an explanation."""
    from reenact.faults.registry import detectors_of

    if faults:
        yield "Faults of this type; `reenact explain NAME` shows one of them:"
    for fault in faults:
        codes = ", ".join(one.code for one in detectors_of(fault))
        yield fill(
            f"  {fault.name} ({codes})",
            width,
            subsequent_indent=" " * 8,
        )


def known_words() -> dict[str, str]:
    """Every word with its explanation, gathered from where it is defined."""
    from reenact.bug.classify import RunOutcome
    from reenact.bug.reproduction import Verdict
    from reenact.claims.check import Relation
    from reenact.diagnosis.learned.findings import BY_CODE
    from reenact.diagnosis.llm_detector import CODE, WHY
    from reenact.faults.fault_type import FaultType
    from reenact.report.views import bug, hypothesis
    from reenact.sandbox.box import Ending

    words: dict[str, str] = {}
    for code, text in _members(ExitCode).items():
        words[code] = f"exit code. {text}"
    words.update(_members(Ending))
    words.update(_members(FaultType))
    words.update(field_texts(Settings))
    finds = "The learned detector finds that the trace looks like one of a wrong"
    for code, learned in BY_CODE.items():
        words[code] = f"{learned.name}. {finds} {learned.word}."
    shown = "A script was run in the sandbox and the reported symptom came out of this line."
    words[CODE] = WHY
    words[bug.CODE] = f"{bug.NAME}. {shown}"
    for owner in (Verdict, RunOutcome, Relation):
        words.update(_members(owner))
    words.update({status.value: text for status, text in hypothesis.MEANINGS.items()})
    return words


def _members(owner: type[Enum]) -> dict[str, str]:
    """The values of an enumeration with their explanations."""
    return {str(owner[name].value): text for name, text in field_texts(owner).items()}


@dataclass(frozen=True, slots=True, repr=False)
class RecordedRun(Result):
    """A run as the journal has it."""

    id: str
    command: str
    """diagnose, repair, bug, paper, ..."""
    what: str
    """The program, the report or the paper."""
    status: str
    """running, finished, failed, stopped or interrupted."""
    exit_code: int | None
    """None until it has ended."""
    verdict: Any
    """The verdict in short."""
    started_at: str
    seconds: float
    reused: str
    """What it took from earlier runs, in a line; empty for nothing."""
    stale: str
    """Why it is not about the unchanged program, in a sentence; empty when it is."""
    result: Any
    """All that came of it, as `--output-format json` has it under `data`; None until there is a
    result.
    """
    journal: Path
    """Folder of the journal that has it."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "journal"}

    def document(self) -> Document:
        """What its command printed, read again."""
        from reenact.journal import JournalReader
        from reenact.report.recorded import Stored, document_of

        with JournalReader.open(self.journal) as shelf:
            return document_of(
                Stored(
                    shelf,
                    shelf.find(self.id),
                    self.journal,
                )
            )

    def in_a_line(self) -> str:
        """Id, command, program and what came of it."""
        verdict = {}
        if isinstance(self.verdict, dict):
            verdict = self.verdict
        return f"{self.id} {self.command} {self.what}: {verdict.get('sentence') or self.status}"


def stale(run: Run) -> str:
    """A sentence when the program of a run has another text today, or is gone; data are not
    compared.
    """
    from reenact.trials.trial import Trial

    try:
        program = program_of_run(run)
    except ReenactError as error:
        return f"The program of this run cannot be read any more: {error.sentence}"
    request: Any = run.request_data()
    if program is None or Trial(program).key == request["program"]:
        return ""
    return (
        f"{run.what} has changed since this run: the result is about the text as it was. Run it "
        f"again."
    )


def program_of_run(run: Run) -> Program | None:
    """The program of a diagnosis or a repair unchanged now; none of other runs, and of imported
    ones. Raises UnreadableProgram.
    """
    from reenact.program.program import read_program

    request: Any = run.request_data()
    if run.imported or not isinstance(request, dict) or "words" not in request:
        return None
    return read_program(
        [str(word) for word in request["words"]],
        Path(str(request["working"])),
    )


def load_run(run: str = "last", *, runs_dir: File | None = None) -> RecordedRun:
    """A recorded run, by its id, a part of it, its number, or "last": the newest one with a result.

    Example:
        reenact.load_run().result["findings"]

    Args:
        run: which one; `reenact runs list` shows them.
        runs_dir: folder of the journal; default: that of the settings (.reenact).
    """
    from reenact.journal import JournalReader
    from reenact.report.recorded import Stored, result_data
    from reenact.report.run_words import reused_in

    folder = resolve(
        {
            "runs_dir": None if runs_dir is None else Path(runs_dir),
        }
    ).settings.runs_dir
    with JournalReader.open(folder) as shelf:
        record = _last_with_result(shelf) if run == "last" else shelf.find(run)
        ended = (
            record.exit_code,
            record.verdict_data() if record.verdict is not None else None,
        )
        named = record.id, record.pipeline, record.what, shelf.status_of(record)
        found = (
            reused_in(record, shelf),
            stale(record),
            result_data(Stored(shelf, record, folder)),
        )
        return RecordedRun(
            *named,
            *ended,
            record.started_at,
            record.worked_s,
            *found,
            folder,
        )


def _last_with_result(shelf: JournalReader) -> Run:
    """The newest run that has a result; the newest of all where none has."""
    from reenact.report.recorded import RESULT

    newest = shelf.find("last")
    candidates = [newest, *shelf.runs(limit=MOST_LOOKED_AT)]
    with_result = (
        run
        for run in candidates
        if shelf.steps_at(
            run,
            f"{run.pipeline}/{RESULT}",
        )
    )
    return next(with_result, newest)
