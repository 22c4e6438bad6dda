"""What may be wrong with a machine: each problem with a code and the one step that fixes it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from reenact.errors import ReenactError
from reenact.report.document import Diagnostic, Level
from reenact.settings import Settings, cache_folder

LOW_DISK_BYTES = 2 * 1024**3


def problems(settings: Settings) -> Iterator[Diagnostic]:
    """Everything to fix, and notes that are worth knowing."""
    yield from _sandbox(settings)
    yield from _journal(settings)
    for folder in dict.fromkeys((settings.runs_dir.absolute(), cache_folder(settings).absolute())):
        yield from _disk(existing(folder))
    yield from _model(settings)


def existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder


def _sandbox(settings: Settings) -> Iterator[Diagnostic]:
    from reenact.sandbox.choose import choose, notice

    wanted = None if settings.sandbox == "auto" else settings.sandbox
    try:
        weaker = notice(choose(wanted, trust_code=settings.trust_code))
    except ReenactError as error:
        yield Diagnostic("DR001", "no-sandbox", Level.ERROR, error.sentence, next_step=error.next_step)
        return
    if weaker:
        yield Diagnostic("DR002", "weaker-sandbox", Level.WARNING, weaker, next_step="apt install bubblewrap")


def _journal(settings: Settings) -> Iterator[Diagnostic]:
    from reenact.journal import JournalReader

    if not (settings.runs_dir / "journal.db").exists():
        return
    try:
        with JournalReader.open(settings.runs_dir) as shelf:
            shelf.runs()
    except ReenactError as error:
        yield Diagnostic("DR003", "journal", Level.ERROR, error.sentence, next_step=error.next_step)


def _disk(folder: Path) -> Iterator[Diagnostic]:
    free = shutil.disk_usage(folder).free
    if not os.access(folder, os.W_OK):
        says, fix = f"{folder} cannot be written to.", "Set runs_dir or cache_dir to another folder."
        yield Diagnostic("DR004", "read-only-folder", Level.ERROR, says, next_step=fix)
    elif free < LOW_DISK_BYTES:
        says = f"Only {free / 1024**2:.0f} MiB are free at {folder}."
        yield Diagnostic("DR005", "low-disk", Level.WARNING, says, next_step="Free some space there.")


def _model(settings: Settings) -> Iterator[Diagnostic]:
    from reenact.llm.names import PROVIDERS, parse_name, require_key

    if not settings.model:
        says = "No model is chosen. Watching, diagnosing and repairing your own program need none."
        yield Diagnostic("DR006", "no-model", Level.NOTE, says, next_step="reenact config")
        return
    try:
        name = parse_name(settings.model)
        if name.kind in PROVIDERS:
            require_key(name)
    except ReenactError as error:
        yield Diagnostic("DR007", "model", Level.ERROR, error.sentence, next_step=error.next_step)
