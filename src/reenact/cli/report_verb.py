"""`reenact report RUN --html FILE`: a run as one file that can be mailed."""

from __future__ import annotations

from pathlib import Path

import click

from reenact.cli.options import echo
from reenact.journal import JournalReader
from reenact.journal.storage import storage_named
from reenact.redact import redact
from reenact.settings import resolve
from reenact.types import ExitCode


@click.command()
@click.argument("run")
@click.option(
    "--html",
    "file",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    required=True,
    help="File to write.",
)
def report(run: str, file: Path) -> ExitCode:
    """Write a RUN as one self-contained html FILE: no script, nothing fetched, dark and light.

    RUN is an id, a part of one that no other run has, a number, or `last`.
    """
    from reenact.report.recorded import Stored
    from reenact.report.run_report import report_page

    folder = resolve().settings.runs_dir
    with JournalReader.open(folder) as shelf:
        found = shelf.find(run)
        text = report_page(Stored(shelf, found, folder))
    with storage_named(file):
        file.write_text(redact(text), encoding="utf-8")
    echo(f"Run {found.id} is in {file} ({file.stat().st_size} bytes).")
    return ExitCode.OK
