"""`reenact evaluate CODE`: scores of generated code; what nobody could judge is told and never a zero."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import click

from reenact.cli.asking import model_options, open_asked
from reenact.cli.boxes import chosen_sandbox
from reenact.cli.evaluate_view import evaluation_sheet
from reenact.cli.journal_option import open_journal, trust_journal_option
from reenact.cli.options import RUN_SECONDS, Amount, Count, echo, output_format, show, stopping_gently
from reenact.cli.papers import opened_paper
from reenact.cli.pdf_option import pdf_reader_option
from reenact.cli.times import max_time_option
from reenact.intake.papers.paper import Paper
from reenact.paper.evaluate.asked import Asked
from reenact.paper.evaluate.execute import Machine
from reenact.paper.evaluate.human import empty_form
from reenact.paper.evaluate.pipeline import Services
from reenact.paper.evaluate.pipeline import evaluate as evaluated
from reenact.paper.options import Goal
from reenact.report.progress import telling
from reenact.sandbox.environments.prepare import Environments
from reenact.settings import cache_folder, resolve
from reenact.types import ExitCode

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option(
    "--paper", "source", help="The paper: LaTeX folder or archive, HTML, Markdown, PDF, arXiv id, text."
)
@click.option("--align", is_flag=True, help="Judge the Align-Score: five key points of the paper, 0 to 100.")
@click.option("--reference", type=FOLDER, help="A reference implementation: adds the code and mixed levels.")
@click.option(
    "--rubric", type=FILE, help="Judge the code-development leaves of a rubric tree (PaperBench JSON)."
)
@click.option(
    "--resources-provided", is_flag=True, help="Getting data and models weighs nothing in the rubric."
)
@click.option(
    "--form", "forms", multiple=True, type=click.Path(dir_okay=False, path_type=Path),
    help="A filled form of the human rubric; where there is none yet, an empty one is written.",
)  # fmt: skip
@click.option("--judgements", type=FILE, help="CSV (item, judge, judge, ...): how far the judges agree.")
@click.option(
    "--expert", type=FILE, help="An expert's list of the cited papers that matter, the first one first."
)
@click.option(
    "--chosen", type=FILE, help="The lineage to compare with it; default: chosen now from the paper."
)
@click.option("--exemplars", type=Count(1, 20), default=3, show_default=True, help="k of Recall@k.")
@click.option("--edits", multiple=True, metavar="RUN", help="Count the edits of this run of `reenact paper`.")
@click.option(
    "--run", "metrics", multiple=True, type=click.Path(path_type=Path),
    help="metrics.json of one run; one that is not there counts as failed.",
)  # fmt: skip
@click.option("--execute", type=Count(0, 20), default=0, help="Run train.py with so many seeds, boxed.")
@click.option("--data", type=FOLDER, help="Your folder of data; the code sees it read-only.")
@click.option("--run-wall", type=RUN_SECONDS, default=3600.0, show_default=True, help="Seconds a run.")
@click.option("--metric", default="", help="The metric of the gap, by its name in metrics.json.")
@click.option("--value", type=Amount(), help="What the reference reaches of it.")
@click.option("--task", default="", help="What of the paper the code is for; default: all of it.")
@click.option("--instruction", default="", help="What else the code was asked for.")
@click.option("--sandbox", help="Tier that parses the paper; default: the best one here.")
@click.option("--trust-code", is_flag=True, default=None, help="Allow a sandbox that confines nothing.")
@click.option("--fresh", is_flag=True, help="Reuse nothing of earlier runs, continue none.")
@trust_journal_option
@pdf_reader_option
@model_options
@max_time_option
@output_format
@click.argument("code", type=FOLDER)
def evaluate(
    source: str | None, align: bool, reference: Path | None, rubric: Path | None, resources_provided: bool,
    forms: tuple[Path, ...], judgements: Path | None, expert: Path | None, chosen: Path | None,
    exemplars: int, edits: tuple[str, ...], metrics: tuple[Path, ...], execute: int,
    data: Path | None, run_wall: float, metric: str, value: float | None,
    task: str, instruction: str, pdf_reader: str | None,
    sandbox: str | None, trust_code: bool | None, fresh: bool, model: str | None, max_cost: Decimal | None,
    max_tokens: int | None, max_calls: int | None, record: Path | None, max_time: float | None,
    output_format: str, code: Path,
) -> int:  # fmt: skip
    """Score the generated CODE: always its quality, and each metric that an option asks for.

    Exit code 0: scored, 3: a judge was asked and could judge nothing.
    """
    flags = {
        "model": model, "max_cost": max_cost, "max_tokens": max_tokens, "max_calls": max_calls,
        "max_time": max_time, "sandbox": sandbox, "trust_code": trust_code, "pdf_reader": pdf_reader,
    }  # fmt: skip
    settings = resolve(flags).settings
    with (
        open_journal(settings.runs_dir) as journal,
        stopping_gently(settings.max_time) as stop,
        telling() as tell,
    ):
        paper = opened_paper(source, settings, stop=stop) if source else None
        asked = Asked(
            code=code, goal=Goal(task=task, metric=metric, instruction=instruction), align=align,
            reference=reference, rubric=rubric, resources=resources_provided, forms=_filled(forms, paper),
            judgements=judgements, expert=expert, chosen=chosen, exemplars=exemplars, runs=edits,
            metrics=metrics, execute=execute, metric=metric, value=value,
        )  # fmt: skip
        judge = None
        # The lineage is chosen by a model only where the user names one for it.
        if (asked.needs_model and settings.model) or (asked.expert and model):
            judge = open_asked(settings, record=record, stop=stop, tell=tell)
        machine = None
        if asked.execute:
            box = chosen_sandbox(settings, stop)
            built = Environments(cache_folder(settings) / "environments", box=box, tell=tell, stop=stop)
            machine = Machine(box, built, data, run_wall, tell, stop)
        found = evaluated(asked, paper, Services(journal, judge, machine, tell, tuple(sys.argv[1:]), fresh))
    show(evaluation_sheet(found), output_format)
    return ExitCode.INCONCLUSIVE if found.is_silent else ExitCode.OK


def _filled(forms: tuple[Path, ...], paper: Paper | None) -> tuple[Path, ...]:
    """Forms that are there; the others are written to be filled."""
    for file in forms:
        if not file.exists():
            file.write_text(empty_form(paper.title if paper is not None else ""), encoding="utf-8")
            echo(f"Wrote an empty form: {file}. Fill it and run the same command again.", err=True)
    return forms
