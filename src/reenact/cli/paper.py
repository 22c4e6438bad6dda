"""`reenact paper PAPER`: code that runs, verified criterion by criterion, and the gap to its numbers."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import click

from reenact.cli.asking import model_options, open_asked, settings_with_model
from reenact.cli.boxes import chosen_sandbox
from reenact.cli.journal_option import open_journal, trust_journal_option
from reenact.cli.options import RUN_SECONDS, Amount, Count, output_format, show, stopping_gently
from reenact.cli.paper_view import reproduction_page, reproduction_sheet
from reenact.cli.papers import addendum_text, opened_paper, paper_clients
from reenact.cli.pdf_option import pdf_reader_option
from reenact.cli.times import max_time_option
from reenact.intake.papers.library import Library
from reenact.paper.options import Goal, PaperAblations, PaperOptions
from reenact.paper.pipeline import Services, reproduce
from reenact.report.progress import telling
from reenact.sandbox.environments.prepare import Environments
from reenact.settings import cache_folder

DEFAULTS = PaperOptions()
PAGE = "report.html"
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option("--task", default="", help="What of the paper to reproduce; default: all of it.")
@click.option("--method", default="", help="The method, by the paper's name for it.")
@click.option("--metric", default="", help="The metric that counts.")
@click.option("--dataset", default="", help="The data set, by the paper's name for it.")
@click.option("--instruction", default="", help="Anything else that the code must keep to.")
@click.option(
    "--addendum", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="What adds to the paper."
)
@click.option("--data", type=FOLDER, help="Your folder of data; the code sees it read-only.")
@click.option("--checkpoints", type=FOLDER, help="Your folder of trained weights; read-only too.")
@click.option("--library", type=FOLDER, help="Cited papers and repositories, to be used offline.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("reproduction"),
    show_default=True, help="Folder for the project, REPORT.md and report.html.",
)  # fmt: skip
@click.option(
    "--exemplars", type=Count(0, 10), default=DEFAULTS.exemplars, show_default=True,
    help="Cited papers that are looked into.",
)  # fmt: skip
@click.option(
    "--rounds", type=Count(0, 10), default=DEFAULTS.rounds, show_default=True,
    help="Revisions after verification.",
)  # fmt: skip
@click.option("--seeds", type=Count(1, 20), default=DEFAULTS.seeds, show_default=True)
@click.option(
    "--scale", type=Amount(0, 1, above=True), default=1.0, show_default=True,
    help="Share of the paper's training to do; declared in every table.",
)  # fmt: skip
@click.option(
    "--run-wall", type=RUN_SECONDS, default=DEFAULTS.run_wall_s, show_default=True,
    help="Seconds that a full run may take.",
)  # fmt: skip
@click.option("--requirement", multiple=True, help="A package that the code may use.")
@click.option("--no-repair", is_flag=True, help="State the gap and leave it.")
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(PaperAblations.names()),
    help="Leave out a part of the method.",
)
@click.option("--sandbox", help="Tier that runs the code; default: the best one here.")
@click.option("--trust-code", is_flag=True, default=None, help="Allow a sandbox that confines nothing.")
@click.option("--fresh", is_flag=True, help="Reuse nothing of earlier runs, continue none.")
@trust_journal_option
@max_time_option
@pdf_reader_option
@model_options
@output_format
@click.argument("source", metavar="PAPER")
def paper(
    task: str, method: str, metric: str, dataset: str, instruction: str, addendum: Path | None,
    data: Path | None, checkpoints: Path | None, library: Path | None, out: Path, exemplars: int, rounds: int,
    seeds: int, scale: float, run_wall: float, requirement: tuple[str, ...], no_repair: bool,
    without: tuple[str, ...], sandbox: str | None, trust_code: bool | None, fresh: bool,
    max_time: float | None, pdf_reader: str | None, model: str | None, max_cost: Decimal | None,
    max_tokens: int | None, max_calls: int | None, record: Path | None, output_format: str, source: str,
) -> int:  # fmt: skip
    """Reproduce PAPER: write its code, run it, verify it, and state the gap to its numbers.

    PAPER is an arXiv id or address, a LaTeX folder or archive, HTML, Markdown, a PDF or plain text. Exit code
    0: reproduced, 1: partly or not, 3: inconclusive.
    """
    flags = {
        "model": model, "max_cost": max_cost, "max_tokens": max_tokens, "max_calls": max_calls,
        "max_time": max_time, "sandbox": sandbox, "trust_code": trust_code, "pdf_reader": pdf_reader,
    }  # fmt: skip
    settings = settings_with_model(flags, "A paper is read and its code written by a model")
    goal = Goal(task, method, metric, dataset, instruction, addendum_text(addendum))
    wishes = PaperOptions(
        goal=goal, data=data, checkpoints=checkpoints, exemplars=exemplars, rounds=rounds, seeds=seeds,
        scale=scale, run_wall_s=run_wall, requirements=requirement, repair=not no_repair,
        parts=PaperAblations.without(*without),
    )  # fmt: skip
    cache = cache_folder(settings)
    with (
        open_journal(settings.runs_dir) as journal,
        stopping_gently(settings.max_time) as stop,
        telling() as tell,
    ):
        box = chosen_sandbox(settings, stop)
        services = Services(
            journal=journal, model=open_asked(settings, record=record, stop=stop, tell=tell), sandbox=box,
            environments=Environments(cache / "environments", box=box, tell=tell, stop=stop),
            cache=cache, traces=settings.runs_dir / "traces",
            library=Library(library) if library is not None else None, clients=paper_clients(settings),
            packages=tuple(settings.allow_packages), tell=tell, stop=stop, argv=tuple(sys.argv[1:]),
            fresh=fresh,
        )  # fmt: skip
        found = reproduce(opened_paper(source, settings, box=box), services, options=wishes, out=out)
    (out / PAGE).write_text(reproduction_page(found), encoding="utf-8")
    show(reproduction_sheet(found), output_format)
    return found.verdict.exit_code
