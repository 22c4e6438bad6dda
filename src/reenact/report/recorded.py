"""A recorded run: what its pipeline left in the journal, and the document of it."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from reenact.errors import InputError, JournalError, ReenactError
from reenact.journal import JournalReader, Run, State, Step
from reenact.probe.growing import GrowingTrace
from reenact.probe.read import is_trace, read_trace
from reenact.probe.trace import Root, Trace
from reenact.report.document import Document, Fold, Section, Text
from reenact.report.run_words import readable, tree
from reenact.result import Result

T = TypeVar("T")
RESULT = "result"
MOST_NOTES = 500
VIEWS = {
    "diagnose": "reenact.report.views.diagnosis",
    "repair": "reenact.report.views.repair",
    "alternatives": "reenact.report.views.alternatives",
    "neutral": "reenact.report.views.alternatives",
    "test-hypothesis": "reenact.report.views.hypothesis",
    "bug": "reenact.report.views.bug",
    "paper": "reenact.report.views.paper",
}
"""Pipeline to its module: `RESULT`; `from_run(stored)` where a recorded run has more than its
result to show, `progress(stored)` where one at work has.
"""
RESULTS = {
    ("reenact.diagnosis.diagnosis", "Diagnosis"): (
        "diagnosis",
        "diagnosis_document",
        True,
    ),
    ("reenact.claims.verdict", "ClaimVerdict"): ("hypothesis", "hypothesis_document", True),
    ("reenact.repairs.verdict", "Repair"): ("repair", "repair_document", True),
    ("reenact.bug.reproduction", "Reproduction"): ("bug", "bug_document", False),
    ("reenact.paper.reproduction", "Reproduction"): ("paper", "paper_document", False),
    ("reenact.paper.fingerprint.pipeline", "FingerprintRun"): (
        "evaluation",
        "fingerprint_document",
        False,
    ),
    ("reenact.paper.evaluate.evaluation", "Evaluation"): (
        "evaluation",
        "evaluation_document",
        False,
    ),
}
"""Module and name of a result: module and name of its view, and whether that wants a title."""
STRANGE = (
    "The result of this run has not the form that this version shows. It is below as it was stored."
)
LATEST = 12


@dataclass(frozen=True)
class Stored:
    """One run and the shelf it is on."""

    shelf: JournalReader
    run: Run
    folder: Path
    """The journal's."""

    def step(self, name: str) -> Step | None:
        """The newest step at a path below the pipeline's."""
        found = self.shelf.steps_at(
            self.run,
            f"{self.run.pipeline}/{name}",
        )
        for one in reversed(found):
            if one.state is not State.SUPERSEDED:
                return one
        return None

    def value(self, name: str) -> Any:
        """The result of that step as plain data; none when there is none."""
        if (step := self.step(name)) is None:
            return None
        return self.shelf.result(step)

    def result(self, returns: type[T], name: str = RESULT) -> T:
        """What the pipeline found. Raises JournalError where it is not stored, or in another
        form.
        """
        step = self.step(name)
        if step is None or not step.has_result:
            raise JournalError(f"Run {self.run.id} has no {name}.")
        return self.shelf.typed_result(step, returns)

    def below(self, name: str, returns: type[T]) -> list[T]:
        """The results of all steps below a path, in order."""
        found = self.shelf.some_steps(
            self.run, under=f"{self.run.pipeline}/{name}", limit=MOST_NOTES
        )
        return [self.shelf.typed_result(one, returns) for one in found if one.has_result]

    def trace_folder(self, note: Any) -> Path | None:
        """The folder of traces that a step names; none for one that lies elsewhere."""
        # The path in an imported run came with a file; anyone who made it may not choose what is read
        # here.
        if not isinstance(note, dict) or self.run.imported:
            return None
        folder = Path(str(note.get("folder", ""))).resolve()
        if folder.is_relative_to((self.folder / "traces").resolve()):
            return folder
        return None

    def trace(self) -> Trace | None:
        """The trace of the watched training; none when nothing was watched or it was cleared
        away.
        """
        folder = self.trace_folder(self.value("watch[2]") or self.value("watch"))
        if folder is None or not is_trace(folder):
            return None
        try:
            return _read(str(folder))
        except ReenactError:
            return None


@lru_cache(maxsize=4)
def _read(folder: str) -> Trace:
    return read_trace(
        Path(folder),
        root=Root(Path(folder)),
    )


def shown(result: object, title: str = "the program") -> Document:
    """The document of a result that a function of `reenact` gave. Raises InputError for
    anything else.
    """
    kind = type(result)
    if (kind.__module__, kind.__name__) not in RESULTS:
        raise InputError(f"Only results of reenact are drawn. Received: {kind.__name__}.")
    module, name, titled = RESULTS[kind.__module__, kind.__name__]
    view = getattr(import_module(f"reenact.report.views.{module}"), name)
    return cast(
        Document,
        view(result, title) if titled else view(result),
    )


def document_of(stored: Stored) -> Document:
    """All that is shown of a run; its verdict as it is where no view knows it."""
    view = _view(stored)
    sections = tuple(_bare(stored))
    if view is not None and stored.step(RESULT) is not None:
        try:
            if not hasattr(view, "from_run"):
                return shown(stored.result(view.RESULT), stored.run.what)
            return cast(Document, view.from_run(stored))
        # A result of another version, or of an imported file, is not a crash.
        except (ReenactError, ValueError, LookupError):
            sections = (
                Section(
                    "Result",
                    [
                        Text(STRANGE),
                        Text(readable(stored.value(RESULT))),
                    ],
                    RESULT,
                ),
            )
    return Document(stored.run.pipeline, stored.run.what, "", sections)


def result_data(stored: Stored) -> Any:
    """The result for programs: as `--output-format json` gives it, or as another version stored
    it.
    """
    with suppress(ReenactError, ValueError, LookupError):
        if (view := _view(stored)) is not None:
            found: Result = stored.result(view.RESULT)
            return found.to_dict()
    value = stored.value(RESULT)
    if value is not None:
        return value
    return stored.run.verdict_data()


def progress_of(stored: Stored) -> tuple[Section, ...]:
    """What a run that is being worked on shows of itself."""
    sections = [*_training(stored)]
    with suppress(ReenactError, ValueError, LookupError):
        if (view := getattr(_view(stored), "progress", None)) is not None:
            sections += tuple(view(stored))
    last = stored.shelf.some_steps(
        stored.run, after=max(0, stored.run.steps - LATEST), limit=LATEST
    )
    if last:
        sections.append(
            Section(
                "The last steps",
                [Text(tree(last))],
                "latest",
            )
        )
    return tuple(sections)


def growing_of(stored: Stored) -> tuple[GrowingTrace, int] | None:
    """The trace that is being written now, and the epochs of its program; none when nothing is
    watched.
    """
    note = stored.value("watching") or stored.value("diagnosis/watching")
    watched = stored.step("watch") or stored.step("diagnosis/watch")
    folder = stored.trace_folder(note)
    if folder is None or (watched is not None and watched.has_result):
        return None
    growing = GrowingTrace(folder)
    if not growing.look():
        return None
    epochs = note.get("epochs")
    return growing, epochs if isinstance(epochs, int) else 0


def _training(stored: Stored) -> Iterator[Section]:
    """How far the watched training is, and the curve of its loss."""
    found = growing_of(stored)
    if found is None or not found[0].losses:
        return
    from reenact.report.line_plot import Curve, line_plot

    growing, epochs = found
    every = growing.step / len(growing.losses)
    note = Text(growing.progress(epochs).note)
    curve = Curve(
        "loss",
        [at * every for at in range(len(growing.losses))],
        growing.losses,
    )
    yield Section(
        "Training",
        [note, line_plot("Loss", [curve])],
        "training-now",
    )


def _view(stored: Stored) -> Any:
    home = VIEWS.get(stored.run.pipeline)
    return import_module(home) if home is not None else None


def _bare(stored: Stored) -> Iterator[Section]:
    run = stored.run
    if run.error:
        yield Section(
            "Error",
            [Text(f"{run.error_type}: {run.error}")],
            "error",
        )
    if run.verdict is not None:
        yield Section(
            "Verdict",
            [Text(readable(run.verdict_data()))],
            "verdict",
        )
    if request := run.request_data():
        yield Section(
            "Request",
            [Fold("As it is recorded", [Text(readable(request))])],
            "request",
        )
