"""`reenact lint FILES`: the static rules on many files at once, for hooks, editors and build servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import click

from reenact.cli.lint_files import Linted, linted, sources
from reenact.cli.options import CONFIDENCE, listed, output_format, show
from reenact.diagnosis.depth import Depth
from reenact.diagnosis.options import THRESHOLD, DiagnoseOptions
from reenact.report.sheet import Level, Notice, Sheet
from reenact.rules.registry import check_words
from reenact.types import ExitCode, Place

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
    selected, ignored = listed(select), listed(ignore)
    check_words((*selected, *ignored))
    wishes = DiagnoseOptions(depth=Depth.STATIC, select=selected, ignore=ignored, threshold=threshold)
    found = linted(sources(paths or (Path(),), listed(exclude)), wishes)
    show(lint_sheet(found), output_format)
    return lint_exit_code(found)


def lint_exit_code(found: Sequence[Linted]) -> ExitCode:
    """Findings come first; a file that nobody could read is never good."""
    if any(one.findings for one in found):
        return ExitCode.FOUND
    return ExitCode.ERROR if any(one.unread for one in found) else ExitCode.OK


def lint_sheet(found: Sequence[Linted]) -> Sheet:
    """All findings, file by file."""
    findings = [finding for one in found for finding in one.findings]
    training = sum(one.is_training for one in found)
    unread = sum(bool(one.unread) for one in found)
    unparsed = f" {_counted(unread, 'file')} could not be parsed." if unread else ""
    return Sheet(
        kind="lint",
        title="Static rules",
        verdict=f"{_counted(len(findings), 'finding')} in {_counted(len(found), 'file')},"
        f" {training} of them with a model or a training.{unparsed}",
        notices=tuple(_notices(found)),
        data={
            "files": len(found),
            "training": training,
            "findings": findings,
            "unread": [{"file": one.path, "reason": one.unread} for one in found if one.unread],
        },
        exit_code=lint_exit_code(found),
    )


def _notices(found: Sequence[Linted]) -> Iterator[Notice]:
    for one in found:
        yield from one.notices
        if one.unread:
            said = f"{one.path} could not be parsed: {one.unread}"
            yield Notice(UNREAD, UNREAD_NAME, Level.ERROR, said, Place(PurePosixPath(one.path), 1))


def _counted(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
