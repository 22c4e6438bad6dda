"""Which view shows a run: its story's, when its result is stored in the form that view knows; else none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from reenact.errors import PatchRefused
from reenact.report.sheet import Text
from reenact.web.page import Section
from reenact.web.stored import Stored
from reenact.web.talk import readable

HOMES = {
    "diagnose": "reenact.web.views.diagnosis",
    "repair": "reenact.web.views.repair",
    "neutral": "reenact.web.views.neutral",
    "bug": "reenact.web.views.bug",
    "paper": "reenact.web.views.paper",
}
STRANGE = "The result of this run has not the form that this version shows. It stands below as it was stored."


def sections_of(stored: Stored) -> tuple[Section, ...]:
    """What the story shows of a run; its verdict as it stands where no view knows it."""
    view = _home(stored, "sections")
    if view is None or stored.step("result") is None:
        return tuple(_plain(stored))
    try:
        return tuple(view(stored))
    # ValidationError is a ValueError. A result of another version, or of an imported file, is no crash.
    except (ValueError, PatchRefused):
        return (Section("Result", [Text(STRANGE), Text(readable(stored.result()))], "result"),)


def progress_of(stored: Stored) -> tuple[Section, ...]:
    """What a run that is being worked on shows of itself."""
    view = _home(stored, "progress")
    try:
        own = tuple(view(stored)) if view is not None else ()
    except (ValueError, PatchRefused):
        own = ()
    return (*own, *_latest(stored))


def _home(stored: Stored, name: str) -> Callable[[Stored], Iterator[Section]] | None:
    home = HOMES.get(stored.run.story)
    return getattr(import_module(home), name, None) if home is not None else None


def _plain(stored: Stored) -> Iterator[Section]:
    run = stored.run
    if run.error:
        yield Section("Error", [Text(f"{run.error_type}: {run.error}")], "error")
    if run.verdict is not None:
        yield Section("Verdict", [Text(readable(run.verdict_data()))], "verdict")
    yield Section("Request", [Text(readable(run.request_data()))], "request")


def _latest(stored: Stored) -> Iterator[Section]:
    from reenact.report.run_words import tree

    last = stored.shelf.some_steps(stored.run, after=max(0, stored.run.steps - LATEST), limit=LATEST)
    if last:
        yield Section(f"The last {len(last)} steps", [Text(tree(last))], "latest")


LATEST = 12
