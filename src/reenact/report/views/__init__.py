"""What each result looks like: one file a result, from the typed result to a document.

`document_of` finds the view of a recorded run; commands call the view of their result themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from reenact.errors import InputError, ReenactError
from reenact.report.document import Document, Section, Text
from reenact.report.run_words import readable, tree
from reenact.report.stored import RESULT, Stored
from reenact.result import Result

VIEWS = {
    "diagnose": "reenact.report.views.diagnosis",
    "repair": "reenact.report.views.repair",
    "alternatives": "reenact.report.views.alternatives",
    "neutral": "reenact.report.views.alternatives",
    "bug": "reenact.report.views.bug",
    "paper": "reenact.report.views.paper",
}
"""Story to its module: `RESULT`, `from_run(stored)`, and `progress(stored)` where it has one."""
RESULTS = {
    ("reenact.diagnosis.diagnosis", "Diagnosis"): ("diagnosis", "diagnosis_document", "the program"),
    ("reenact.repairs.verdict", "Repair"): ("repair", "repair_document", "the program"),
    ("reenact.bug.reproduction", "Reproduction"): ("bug", "bug_document", ""),
    ("reenact.paper.reproduction", "Reproduction"): ("paper", "paper_document", ""),
    ("reenact.paper.fingerprint.pipeline", "FingerprintRun"): ("fingerprint", "fingerprint_document", ""),
    ("reenact.paper.evaluate.evaluation", "Evaluation"): ("evaluation", "evaluation_document", ""),
}
"""Module and name of a result: module and name of its view, and the title that wants."""
STRANGE = "The result of this run has not the form that this version shows. It stands below as it was stored."
LATEST = 12


def shown(result: object) -> Document:
    """The document of a result that a function of `reenact` gave. Raises InputError for anything else."""
    kind = type(result)
    if (kind.__module__, kind.__name__) not in RESULTS:
        raise InputError(f"Only results of reenact are drawn. Received: {kind.__name__}.")
    module, name, title = RESULTS[kind.__module__, kind.__name__]
    view = getattr(import_module(f"reenact.report.views.{module}"), name)
    document: Document = view(result, title) if title else view(result)
    return document


def document_of(stored: Stored) -> Document:
    """All that is shown of a run; its verdict as it stands where no view knows it."""
    view = _view(stored)
    if view is not None and stored.step(RESULT) is not None:
        try:
            document: Document = view.from_run(stored)
        # A result of another version, or of an imported file, is no crash.
        except (ReenactError, ValueError, LookupError):
            return _document(
                stored, [Section("Result", [Text(STRANGE), Text(readable(stored.value(RESULT)))], RESULT)]
            )
        return document
    return _document(stored, _bare(stored))


def result_data(stored: Stored) -> Any:
    """The result for programs: as `--output-format json` gives it, or as another version stored it."""
    view = _view(stored)
    if view is not None:
        try:
            found: Result = stored.result(view.RESULT)
            return found.to_dict()
        except (ReenactError, ValueError, LookupError):
            pass
    value = stored.value(RESULT)
    return value if value is not None else stored.run.verdict_data()


def progress_of(stored: Stored) -> tuple[Section, ...]:
    """What a run that is being worked on shows of itself."""
    view = getattr(_view(stored), "progress", None)
    try:
        own = tuple(view(stored)) if view is not None else ()
    except (ReenactError, ValueError, LookupError):
        own = ()
    last = stored.shelf.some_steps(stored.run, after=max(0, stored.run.steps - LATEST), limit=LATEST)
    latest = [Section(f"The last {len(last)} steps", [Text(tree(last))], "latest")] if last else []
    return (*own, *latest)


def _view(stored: Stored) -> Any:
    home = VIEWS.get(stored.run.pipeline)
    return import_module(home) if home is not None else None


def _document(stored: Stored, sections: Any) -> Document:
    return Document(stored.run.pipeline, stored.run.what, "", tuple(sections))


def _bare(stored: Stored) -> Iterator[Section]:
    run = stored.run
    if run.error:
        yield Section("Error", [Text(f"{run.error_type}: {run.error}")], "error")
    if run.verdict is not None:
        yield Section("Verdict", [Text(readable(run.verdict_data()))], "verdict")
    yield Section("Request", [Text(readable(run.request_data()))], "request")
