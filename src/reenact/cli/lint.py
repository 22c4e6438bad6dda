"""`reenact lint FILES`: the static rules on many files at once, for hooks, editors and build servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import click

from reenact.api import lint as run_lint
from reenact.api.linting import Linted, LintResult
from reenact.cli.options import CONFIDENCE, listed, output_format, show
from reenact.diagnosis.options import THRESHOLD
from reenact.report.document import Diagnostic, Document, Level
from reenact.types import Place

UNREAD, UNREAD_NAME = "PG001", "unparsed-file"


@click.command()
@click.option("--select", multiple=True, help="Only these rules: a code, prefix, name, family or tool.")
@click.option("--ignore", multiple=True, help="Not these rules.")
@click.option("--exclude", multiple=True, help="Not what this matches: tests, '*_test.py', 'old/*'.")
@click.option("--threshold", type=CONFIDENCE, default=THRESHOLD, show_default=True, help="Least confidence.")
@output_format
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
def lint(
    select: tuple[str, ...], ignore: tuple[str, ...], exclude: tuple[str, ...], threshold: float,
    output_format: str, paths: tuple[Path, ...],
) -> int:  # fmt: skip
    """Say what the text of training programs alone shows to be wrong.

    PATHS are files, notebooks and folders; default: this folder. Each file is read by itself: nothing is
    run, no framework is imported, nothing is recorded. Every file is checked, also when another cannot be
    parsed. Exit code 0: no rule fires, 1: findings, 2: no findings, but a file that cannot be parsed.
    """
    result = run_lint(
        *paths, select=listed(select), ignore=listed(ignore), exclude=listed(exclude), threshold=threshold
    )
    show(lint_document(result), output_format)
    return result.exit_code


def lint_document(result: LintResult) -> Document:
    """All findings, file by file."""
    found, unread = result.files, len(result.unread)
    unparsed = f" {_counted(unread, 'file')} could not be parsed." if unread else ""
    return Document(
        kind="lint",
        title="Static rules",
        verdict=f"{_counted(len(result.findings), 'finding')} in {_counted(len(found), 'file')},"
        f" {result.training} of them with a model or a training.{unparsed}",
        diagnostics=tuple(_notices(found)),
        data=result.to_dict(),
        exit_code=result.exit_code,
    )


def _notices(found: Sequence[Linted]) -> Iterator[Diagnostic]:
    for one in found:
        yield from one.diagnostics
        if one.unread:
            said = f"{one.path} could not be parsed: {one.unread}"
            yield Diagnostic(UNREAD, UNREAD_NAME, Level.ERROR, said, Place(PurePosixPath(one.path), 1))


def _counted(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
