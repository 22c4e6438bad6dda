"""`reenact lint FILES`: the static rules on many files at once, for hooks, editors and build servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import click

from reenact.api import lint as run_lint
from reenact.api.linting import Linted, LintResult
from reenact.cli.options import listed, shared, show
from reenact.report.document import Diagnostic, Document, Level
from reenact.types import Place

UNREAD, UNREAD_NAME = "PG001", "unparsed-file"


@click.command()
@shared("select", "ignore")
@click.option(
    "--exclude", multiple=True, callback=listed, help="Not what this matches: tests, '*_test.py', 'old/*'."
)
@shared("threshold", "output-format")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
def lint(paths: tuple[Path, ...], output_format: str, **given: Any) -> int:
    """Say what the text of training programs alone shows to be wrong.

    PATHS are files, notebooks and folders; default: this folder. Each file is read by itself: nothing is
    run, no framework is imported, nothing is recorded. Every file is checked, also when another cannot be
    parsed. Exit code 0: no rule fires, 1: findings, 2: no findings, but a file that cannot be parsed.
    """
    result = run_lint(*paths, **given)
    show(lint_document(result), output_format)
    return result.exit_code


def lint_document(result: LintResult) -> Document:
    """All findings, file by file."""
    return Document(
        kind="lint",
        title="Static rules",
        verdict=result.sentence,
        diagnostics=tuple(_notices(result.files)),
        data=result.to_dict(),
        exit_code=result.exit_code,
    )


def _notices(found: Sequence[Linted]) -> Iterator[Diagnostic]:
    for one in found:
        yield from one.diagnostics
        if one.unread:
            message = f"{one.path} could not be parsed: {one.unread}"
            yield Diagnostic(UNREAD, UNREAD_NAME, Level.ERROR, message, Place(PurePosixPath(one.path), 1))
