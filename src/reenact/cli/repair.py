"""`reenact repair PROGRAM`: the smallest change that makes the training significantly better, as a diff."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import click

from reenact.cli.asking import model_options, open_asked
from reenact.cli.journal_option import open_journal, trust_journal_option
from reenact.cli.options import (
    RANDOM_SEED,
    REPAIR_BUDGET,
    WORKERS,
    Amount,
    Count,
    listed,
    output_format,
    show,
    stopping_gently,
)
from reenact.cli.repair_view import repair_sheet
from reenact.cli.times import max_time_option, training_time_option
from reenact.cli.watch import PROGRAM, program_words
from reenact.errors import InputError
from reenact.journal import Journal
from reenact.program.program import Program, read_program
from reenact.repairs.options import RepairOptions
from reenact.repairs.strategies.strategy import BUILT_IN
from reenact.repairs.verdict import Decision, Repair
from reenact.report.progress import telling
from reenact.rules.registry import check_words
from reenact.settings import resolve


@click.command(context_settings=PROGRAM)
@click.option(
    "--strategy", default="guided", show_default=True, help=f"How to search: {', '.join(BUILT_IN)}."
)
@click.option(
    "--budget", type=REPAIR_BUDGET, default="20x", show_default=True,
    help="For search and minimising: a multiple of one training (20x), a time (5m), trainings (40t).",
)  # fmt: skip
@click.option("--metric", help="The metric that judges, for example val_accuracy.")
@click.option("--seeds", type=Count(6, 1000), default=10, show_default=True, help="That judge.")
@click.option("--select", multiple=True, help="Only what these rules find: codes, prefixes, families.")
@click.option("--ignore", multiple=True, help="Not these rules.")
@click.option("--space", type=click.Choice(["own", "study"]), default="own", show_default=True,
              help="Values for random, bohb and hebo: ours, or those of the study.")  # fmt: skip
@click.option("--chance", type=RANDOM_SEED, default=0, help="Other dice for the search.")
@click.option("--samples", type=Count(1, 20), default=5, show_default=True, help="Answers of llm.")
@click.option("--temperature", type=Amount(0, 2), help="Of these answers.")
@click.option("--workers", type=WORKERS, default=0, help="Trainings at once; default: one a core.")
@click.option(
    "--executor",
    default="process",
    show_default=True,
    help="Where trainings run: process, ensemble, ray, or the address of a Ray cluster.",
)
@max_time_option
@training_time_option
@click.option("--python", help="Interpreter to use; default: the active one.")
@click.option("--apply", "apply", is_flag=True, help="Write a verified change into the files, with a backup.")
@click.option("--branch", help="With --apply: a new git branch instead; the files stay as they are.")
@click.option("--fresh", is_flag=True, help="Reuse nothing of earlier runs, continue none.")
@trust_journal_option
@model_options
@output_format
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def repair(
    strategy: str, budget: str, metric: str | None, seeds: int, select: tuple[str, ...],
    ignore: tuple[str, ...], space: str, chance: int, samples: int, temperature: float | None, workers: int,
    executor: str, max_time: float | None, training_time: float | None, python: str | None, apply: bool,
    branch: str | None, fresh: bool,
    model: str | None, max_cost: Decimal | None, max_tokens: int | None, max_calls: int | None,
    record: Path | None, output_format: str, program: tuple[str, ...],
) -> int:  # fmt: skip
    """Find the smallest change that makes the training PROGRAM significantly better.

    Changed copies of it are trained in scratch folders; your files are changed only by --apply, and only
    when the change held on fresh seeds. Exit code 0: repaired, or good already; 1: nothing found that
    matters; 3: what was found did not hold, or no training could be compared.
    """
    from reenact.repairs.pipeline import repair as tell_story
    from reenact.repairs.prepare import RepairServices

    if branch and not apply:
        raise InputError("--branch says where --apply writes. Received: --branch without --apply.")
    selected, ignored = listed(select), listed(ignore)
    check_words((*selected, *ignored))
    limits = {"max_cost": max_cost, "max_tokens": max_tokens, "max_calls": max_calls}
    settings = resolve({"python": python, "model": model, "max_time": max_time, **limits}).settings
    wishes = RepairOptions(
        strategy=strategy, budget=budget, metric=metric or "", seeds=seeds, select=selected, ignore=ignored,
        space=space, python=settings.python, workers=workers, chance=chance, samples=samples,
        temperature=temperature, training_time=training_time, executor=executor,
    )  # fmt: skip
    read = read_program(program_words(program))
    with (
        open_journal(settings.runs_dir) as journal,
        stopping_gently(settings.max_time) as stop,
        telling() as tell,
    ):
        services = RepairServices(
            journal=journal, traces=settings.runs_dir / "traces", tell=tell, stop=stop,
            stdout=sys.stderr.fileno(), argv=tuple(sys.argv[1:]), fresh=fresh,
            model=open_asked(settings, record=record, stop=stop, tell=tell) if model else None,
        )  # fmt: skip
        found = tell_story(read, wishes, services)
        where = _applied(found, read, branch, journal) if apply else ""
    show(repair_sheet(found, " ".join(program), where), output_format)
    return found.decision.exit_code


def _applied(found: Repair, program: Program, branch: str | None, journal: Journal) -> str:
    """Where the change was written, in a sentence; nothing is written that did not hold."""
    from reenact.repairs.apply import commit_on_branch, write

    if found.decision is not Decision.REPAIRED:
        return "Nothing was written: no change held on fresh seeds."
    if branch:
        commit = commit_on_branch(program, found.patch, branch, f"Repair the training\n\n{found.sentence}\n")
        return f"Committed as {commit[:12]} on the new branch {branch}; your files are as they were."
    request = {"program": str(program.entry), "patch": found.patch.to_json()}
    with journal.run(story="apply", request=request, what=str(program.entry), fresh=True) as run:
        backups = write(program, found.patch, run)
        run.finish({"backups": [str(path) for path in backups]})
    return f"Written; what stood there before: {', '.join(map(str, backups))}."
