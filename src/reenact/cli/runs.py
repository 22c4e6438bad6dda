"""`reenact runs`: list, show, resume, rename, export, import, query, check and remove recorded
runs; `reenact report RUN --html FILE`: a run as one file that can be mailed.
"""

import os
import shlex
import sys
from datetime import datetime, timedelta
from pathlib import Path

import click

from reenact.cli.help import command
from reenact.cli.options import ROWS, Age, defaulted, echo, output_format, show
from reenact.errors import InputError
from reenact.journal import Journal, JournalReader, Run, Status
from reenact.journal.query import query as ask
from reenact.journal.storage import storage_named
from reenact.own_process import become_own_command
from reenact.redact import redact
from reenact.report import run_words as words
from reenact.report.views import runs as views
from reenact.settings import resolve
from reenact.types import ExitCode

WRITABLE = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.group()
def runs() -> None:
    """List, show, resume, export and query recorded runs.

    RUN is an id, a part of one that no other run has, a number, or `last`.
    """


@runs.command(name="list")
@click.option(
    "--command",
    "pipeline",
    help="Only runs of this command: diagnose, repair, bug, paper, ...",
)
@click.option("--pipeline", "pipeline", hidden=True)
@click.option("--story", "pipeline", hidden=True)
@click.option(
    "--status",
    type=click.Choice([status.value for status in Status]),
    help="Only runs so marked.",
)
@click.option(
    "--search",
    metavar="TEXT",
    help="Only runs with these words in id, command, name or verdict.",
)
@defaulted("--limit", ROWS, 50, "Rows at most.")
@output_format
def list_runs(
    pipeline: str | None,
    status: str | None,
    search: str | None,
    limit: int,
    output_format: str,
) -> None:
    """List runs, newest first."""
    if not (_folder() / "journal.db").exists():
        show(views.list_document([], 0), output_format)
        return
    wanted = Status(status) if status else None
    with JournalReader.open(_folder()) as shelf:
        found = shelf.runs(
            pipeline=pipeline,
            status=wanted,
            text=search,
            limit=limit,
        )
        total = shelf.count(pipeline=pipeline, status=wanted, text=search)
        rows = [(run, shelf.status_of(run)) for run in found]
        show(
            views.list_document(rows, total, str(Path.cwd())),
            output_format,
        )


@runs.command(name="show")
@click.argument("run")
@click.option(
    "--step",
    "path",
    metavar="PATH",
    help="Show the inputs and the result of this step.",
)
@defaulted("--limit", ROWS, 200, "Steps to show at most.")
@output_format
def show_run(
    run: str,
    path: str | None,
    limit: int,
    output_format: str,
) -> None:
    """Show a RUN: what was asked, its status, and its steps as a tree."""
    with JournalReader.open(_folder()) as shelf:
        found = shelf.find(run)
        steps = shelf.steps(found)
        if path is None:
            show(
                views.run_document(found, shelf.status_of(found), steps, limit),
                output_format,
            )
            return
        step = next(
            (step for step in reversed(steps) if step.path == path),
            None,
        )
        if step is None:
            after = f"reenact runs show {found.id}"
            raise InputError(
                f"Run {found.id} has no step {path!r}.",
                next_step=after,
            )
        show(
            views.step_document(
                found,
                step,
                shelf.inputs(step),
                shelf.result(step),
            ),
            output_format,
        )


@runs.command()
@click.argument("run")
@click.option(
    "--trust-journal",
    is_flag=True,
    help="Also a run that you did not record on this machine.",
)
@click.option("--yes", "trust_journal", is_flag=True, hidden=True)
def resume(run: str, trust_journal: bool) -> None:
    """Continue a RUN with the command that started it.

    A run that came with a folder or by `runs import` holds a command that somebody else may have
    written: it is printed, and started only with --trust-journal. The steps of an imported run are
    never taken as evidence: its command then starts a new run.
    """
    with Journal.open(_folder()) as journal:
        found = journal.find(run)
        command = shlex.join(["reenact", *found.command()])
        if not found.command():
            how = "was started from Python, not by a command"
            raise InputError(f"Run {found.id} {how}: start it there again.")
        if not trust_journal:
            journal.require_ours(found)
        elif not found.imported and not journal.is_ours(found):
            found = journal.take_over(found)
        if not found.imported:
            journal.prefer(found)
        # Where the command was given, if that still leads to this journal.
        folder = Path.cwd()
        recorded = Path(found.folder)
        leads_here = (recorded / _folder()).resolve() == _folder().resolve()
        if not found.imported and recorded.is_dir() and leads_here:
            folder = recorded
    echo(
        f"{'Repeating' if found.imported else 'Continuing'} run {found.id}: {command}",
        err=True,
    )
    os.chdir(folder)
    sys.stdout.flush()
    become_own_command(*found.command())


@runs.command()
@click.argument("run")
@click.option(
    "--branch",
    help="Commit it on a new git branch instead; the files stay as they are.",
)
@click.option("--allow-dirty", is_flag=True, help="Also over changes that were not committed.")
def apply(run: str, branch: str | None, allow_dirty: bool) -> None:
    """Write the change of a finished repair RUN into the files, with a backup; nothing is trained
    again.

    Refused where the change did not hold on fresh seeds, or the program has changed since.
    """
    from reenact.api.training import apply_repair

    echo(apply_repair(run, branch=branch, allow_dirty=allow_dirty))


@runs.command()
@click.argument("run")
@click.argument("file", type=click.Path(path_type=Path))
def export(run: str, file: Path) -> None:
    """Write a RUN with everything it needs to FILE."""
    with JournalReader.open(_folder()) as shelf:
        found = shelf.find(run)
        shelf.export(found, file)
    echo(f"Run {found.id} is in {file} ({file.stat().st_size} bytes).")


@runs.command(name="import")
@click.argument(
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
def import_run(file: Path) -> None:
    """Take the run in FILE into this journal. Twice changes nothing."""
    with Journal.open(_folder()) as journal:
        moved = journal.take_in(file)
    how = "is here now" if moved.is_new else "was here already"
    echo(f"Run {moved.run.id} {how}.")


@runs.command()
@click.argument("sql")
@defaulted("--limit", ROWS, 1000, "Rows at most.")
@output_format
def query(sql: str, limit: int, output_format: str) -> None:
    """Answer one SELECT over the views `runs` and `steps`; nothing can be changed by it.

    \b
    runs   id seq pipeline what status exit_code verdict error_type error started_at ended_at worked_s
           executions steps done reused failed money tokens_in tokens_out unpriced request argv folder
           fresh version python imported
    steps  run nr path kind version state tries started_at ended_at duration_s money tokens_in tokens_out
           reused_from error_type error key inputs result
    """
    if not (_folder() / "journal.db").exists():
        JournalReader.open(_folder())
    show(
        views.answer_document(ask(_folder(), sql, limit=limit), limit),
        output_format,
    )


@runs.command()
@output_format
def check(output_format: str) -> ExitCode:
    """Read everything once and say what is not as it was written."""
    with JournalReader.open(_folder()) as shelf:
        checked = shelf.check()
    show(views.check_document(checked), output_format)
    return ExitCode.FOUND if checked.problems else ExitCode.OK


@runs.command()
@click.argument("run")
@click.argument("name")
def rename(run: str, name: str) -> None:
    """Give a RUN another NAME in lists and on its page; what it did stays as it was."""
    with Journal.open(_folder()) as journal:
        renamed = journal.rename(journal.find(run), name)
    echo(f"Run {renamed.id} is called {renamed.what!r} now.")


@runs.command()
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(run: str, yes: bool) -> None:
    """Remove a RUN and the artefacts that only it needs."""
    if not yes:
        if not sys.stdin.isatty():
            raise InputError(
                "Removing cannot be undone.",
                next_step=f"reenact runs remove {run} --yes",
            )
        click.confirm(f"Remove run {run} for good?", abort=True)
    with Journal.open(_folder()) as journal:
        removed = journal.remove(run)
    later = "its artefacts at the next removal"
    now = f"{removed.artefacts} artefacts with it"
    echo(f"Run {removed.run} is removed, with {later if removed.artefacts is None else now}.")


@runs.command()
@click.option(
    "--older",
    "age_s",
    type=Age(),
    required=True,
    metavar="AGE",
    help="Age above which runs are removed: 30d, 12h, 2w.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only list what would be removed.")
def clean(age_s: float, yes: bool, dry_run: bool) -> None:
    """Remove runs that started longer ago than AGE, with the artefacts that only they need.

    Runs that are at work stay.
    """
    if not (_folder() / "journal.db").exists():
        echo("No runs recorded here yet.")
        return
    before = datetime.now().astimezone() - timedelta(seconds=age_s)
    with JournalReader.open(_folder()) as shelf:
        old = [
            run
            for run in shelf.runs()
            if started_before(run, before) and shelf.status_of(run) != Status.RUNNING
        ]
    for run in old:
        echo(f"{run.id}  {words.moment(run.started_at)}  {run.pipeline} {run.what}")
    if not old or dry_run:
        echo(f"{words.counted(len(old), 'run')} to remove.")
        return
    if not yes:
        if not sys.stdin.isatty():
            raise InputError("Removing cannot be undone.", next_step="Add --yes.")
        click.confirm(f"Remove {words.counted(len(old), 'run')} for good?", abort=True)
    with Journal.open(_folder()) as journal:
        for run in old:
            journal.remove(run.id)
    echo(f"{words.counted(len(old), 'run')} removed.")


@command()
@click.argument("first", metavar="RUN")
@click.argument("second", metavar="RUN")
@output_format
def diff(first: str, second: str, output_format: str) -> ExitCode:
    """Compare two runs: command, verdict, options, metrics at the end, and findings of each.

    RUN is an id, a part of one that no other run has, a number, or `last`. Exit code 0, whatever
    differs.
    """
    from reenact.errors import require
    from reenact.report.comparison import difference
    from reenact.report.recorded import Stored

    require("train")
    with JournalReader.open(_folder()) as shelf:
        stored = [Stored(shelf, shelf.find(run), _folder()) for run in (first, second)]
        document = difference(stored)
    show(document, output_format)
    return ExitCode.OK


@command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--html", "file", type=WRITABLE, required=True, help="File to write.")
def report(runs: tuple[str, ...], file: Path) -> ExitCode:
    """Write a RUN, or several, as one self-contained html FILE: no script, nothing fetched, dark
    and light.

    RUN is an id, a part of one that no other run has, a number, or `last`.
    """
    from reenact.report.recorded import Stored
    from reenact.report.run_report import report_page

    with JournalReader.open(_folder()) as shelf:
        found = [shelf.find(run) for run in runs]
        text = report_page(*(Stored(shelf, one, _folder()) for one in found))
    with storage_named(file):
        file.write_text(redact(text), encoding="utf-8")
    named = f"Run {found[0].id} is" if len(found) == 1 else f"{len(found)} runs are"
    echo(f"{named} in {file} ({file.stat().st_size} bytes).")
    return ExitCode.OK


def started_before(run: Run, moment: datetime) -> bool:
    """Whether a run is older; one without a readable time is not."""
    try:
        return datetime.fromisoformat(run.started_at).astimezone() < moment
    except ValueError:
        return False


def _folder() -> Path:
    return resolve().settings.runs_dir
