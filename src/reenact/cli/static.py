"""What the text of a program shows, and the detectors that say so: nothing is run.

`reenact lint FILES`: the static detectors on many files at once, for hooks, editors and build
servers. `reenact params SCRIPT`: every hyperparameter, where it is and what else it could be.
`reenact rules`: every detector, the fault it finds and what it needs; `reenact explain WORD`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from reenact.api import baseline as baselines
from reenact.api.linting import LintResult
from reenact.api.linting import lint as run_lint
from reenact.api.reference import explain as meaning_of
from reenact.api.reference import hyperparameters, list_rules
from reenact.cli.calling import PROGRAM, program_words
from reenact.cli.help import command
from reenact.cli.options import (
    FILE,
    NEW_FILE,
    NEW_FOLDER,
    echo,
    listed,
    option,
    output_format,
    shared,
    show,
    terminal_width,
)
from reenact.diagnosis.judgement import counted
from reenact.faults.fix import FixSafety
from reenact.program.patch import readable_diff
from reenact.report.document import Document
from reenact.report.fault_pages import (
    COLUMNS,
    detector_cells,
    detector_data,
    write_pages,
)
from reenact.report.views.static import UNPARSED
from reenact.types import ExitCode, JsonValue, Table

UNSET = "Also list those that are not set: the library's default holds."


@command()
@shared("select", "ignore")
@option(
    "--exclude",
    "Not what this matches: tests, '*_test.py', 'old/*'.",
    multiple=True,
    callback=listed,
)
@shared("threshold")
@option("--baseline", "Leave out the findings in this file.", FILE)
@option("--write-baseline", "Write all findings to this file as known.", NEW_FILE)
@click.option("--statistics", is_flag=True, help="Count the findings of each detector instead.")
@click.option("--exit-zero", is_flag=True, help="Exit code 0 also when there are findings.")
@click.option("--fix", is_flag=True, help="Put safe fixes into the files, then list what is left.")
@click.option("--diff", is_flag=True, help="Print what --fix would change, and write nothing.")
@click.option("--unsafe-fixes", is_flag=True, help="Also fixes that change what is trained.")
@shared("output-format")
@click.argument(
    "paths",
    nargs=-1,
    type=click.Path(exists=True, path_type=Path),
)
def lint(
    paths: tuple[Path, ...],
    baseline: Path | None,
    write_baseline: Path | None,
    statistics: bool,
    exit_zero: bool,
    fix: bool,
    diff: bool,
    unsafe_fixes: bool,
    output_format: str,
    **given: Any,
) -> int:
    """Say what the text of training programs alone shows to be wrong.

    PATHS are files, notebooks and folders; default: this folder. Each file is read by itself:
    nothing is run, no framework is imported, nothing is recorded. Every file is checked, also when
    another cannot be parsed. Exit code 0: no detector fires, 1: findings, 2: no findings, but a
    file that cannot be parsed. With --fix the findings that are left decide, with --diff whether
    anything would change.
    """
    if (fix or diff) and (baseline or write_baseline):
        raise click.UsageError("--fix and --diff do not know a baseline: give one or the other.")
    result = run_lint(*paths, **given)
    if diff:
        return _would_change(result, unsafe=unsafe_fixes)
    fixed = ""
    if fix:
        fixes = result.fix(unsafe=unsafe_fixes)
        fixed = f"{fixes.sentence} " if fixes.files else ""
        result = run_lint(*paths, **given) if fixes.files else result
    known = 0
    if write_baseline is not None:
        baselines.write_baseline(result, write_baseline)
        echo(f"{counted(len(result.findings), 'finding')} written to {write_baseline}.")
        return ExitCode.ERROR if result.unread else ExitCode.OK
    if baseline is not None:
        result, known = baselines.without_known(result, baseline)
    document = result.document()
    if statistics:
        document = _statistics(result, document)
    if known:
        verdict = f"{document.verdict} {counted(known, 'known finding')} left out ({baseline})."
        document = replace(document, verdict=verdict)
    document = replace(document, verdict=f"{fixed}{document.verdict}")
    show(document, output_format)
    if exit_zero and not result.unread:
        return ExitCode.OK
    return ExitCode.ERROR if exit_zero else result.exit_code


def _would_change(result: LintResult, *, unsafe: bool) -> ExitCode:
    """Print the diff of all fixes and write nothing."""
    fixes = result.fix(unsafe=unsafe, write=False)
    if fixes.diff:
        echo(readable_diff(fixes.diff).rstrip("\n"))
    hidden = 0 if unsafe else result.fixable(FixSafety.UNSAFE)
    more = f" {counted(hidden, 'more finding')} fixable with --unsafe-fixes." if hidden else ""
    echo(f"{fixes.sentence}{more}", err=True)
    if fixes.files:
        return ExitCode.FOUND
    return ExitCode.ERROR if result.unread else ExitCode.OK


def _statistics(result: LintResult, document: Document) -> Document:
    """How often each detector fires, most often first, instead of the findings."""
    counts = Counter((one.code, one.name) for one in result.findings)
    rows = tuple((str(number), code, name) for (code, name), number in counts.most_common())
    unread = tuple(one for one in document.diagnostics if one.code == UNPARSED[0])
    data: JsonValue = [
        {"code": code, "name": name, "count": number}
        for (code, name), number in counts.most_common()
    ]
    return replace(
        document,
        blocks=(Table("", ("findings", "code", "name"), rows),) if rows else (),
        diagnostics=unread,
        data={"statistics": data},
    )


@command(context_settings=PROGRAM)
@option("--all", UNSET, name="everything", is_flag=True)
@click.option("--layers", is_flag=True, help="Also list the layers as the text makes them.")
@shared("output-format", "program")
def params(
    program: tuple[str, ...], everything: bool, layers: bool, output_format: str
) -> ExitCode:
    """List the hyperparameters of a training program: kind, value, place, alternatives.

    PROGRAM is a script, a notebook or `-m package`, followed by its own arguments; `-- torchrun
    ...` for a launcher line. The program is read, never run.
    """
    result = hyperparameters(program_words(program))
    show(result.document(everything=everything, layers=layers), output_format)
    return ExitCode.OK


@command()
@click.argument("words", nargs=-1)
@click.option("--family", help="Only detectors of this published tool, such as umlaut.")
@click.option("--write", "folder", type=NEW_FOLDER, help="Write a page a fault and an index.")
@output_format
def rules(
    words: tuple[str, ...], family: str | None, folder: Path | None, output_format: str
) -> None:
    """List the detectors, each with the fault that it looks for.

    Without WORDS all of them; else those whose code, prefix, name, family, or whose fault's code,
    name or category is among WORDS.
    """
    if folder is not None:
        echo(f"{len(write_pages(folder))} pages written to {folder}.")
        return
    listed = list_rules(*words, family=family)
    faults = len({one.fault.code for one in listed})
    verdict = f"{counted(len(listed), 'detector')} of {counted(faults, 'fault')}. "
    verdict += "reenact explain NAME says what, why and what to do instead."
    table = Table(
        "",
        COLUMNS,
        tuple(map(detector_cells, listed)),
    )
    data = [detector_data(one) for one in listed]
    show(
        Document("rules", "Faults and detectors", verdict, (table,), data=data),
        output_format,
    )


@command()
@click.argument("word")
def explain(word: str) -> None:
    """Explain a WORD that reenact prints: a fault, a detector, an ending, an exit code, a
    setting.
    """
    echo(meaning_of(word, terminal_width()))
