"""`reenact evaluate CODE`: scores of generated code; what nobody could judge is told and never a zero."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import click

from reenact.api import evaluate as run_evaluation
from reenact.cli.asking import model_options
from reenact.cli.calling import calling, trust_journal_option
from reenact.cli.options import RUN_SECONDS, Amount, Count, output_format, show
from reenact.cli.pdf_option import pdf_reader_option
from reenact.cli.times import max_time_option
from reenact.report.views.evaluation import evaluation_document
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
@click.option(
    "--execute", type=Count(0, 20), default=0, help="Run train.py with this many seeds in the sandbox."
)
@click.option("--data", type=FOLDER, help="Your folder of data; the code sees it read-only.")
@click.option(
    "--run-wall", type=RUN_SECONDS, default=3600.0, show_default=True, help="Seconds that one run may take."
)
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
    source: str | None, align: bool, reference: Path | None, rubric: Path | None,
    resources_provided: bool, forms: tuple[Path, ...], judgements: Path | None, expert: Path | None,
    chosen: Path | None, exemplars: int, edits: tuple[str, ...], metrics: tuple[Path, ...], execute: int,
    data: Path | None, run_wall: float, metric: str, value: float | None, task: str, instruction: str,
    pdf_reader: str | None, sandbox: str | None, trust_code: bool | None, fresh: bool,
    trust_journal: bool, model: str | None, max_cost: Decimal | None, max_tokens: int | None,
    max_calls: int | None, record: Path | None, max_time: float | None, output_format: str, code: Path,
) -> int:  # fmt: skip
    """Score the generated CODE: always its quality, and each metric that an option asks for.

    Exit code 0: scored, 3: a judge was asked and could judge nothing.
    """
    with calling(max_time) as stop:
        found = run_evaluation(
            code, paper=source, align=align, reference=reference, rubric=rubric,
            resources_provided=resources_provided, forms=forms, judgements=judgements, expert=expert,
            chosen=chosen, exemplars=exemplars, edits=edits, metrics=metrics, execute=execute, data=data,
            run_time=run_wall, metric=metric, value=value, task=task, instruction=instruction,
            pdf_reader=pdf_reader, sandbox=sandbox, trust_code=trust_code, max_time=max_time, model=model,
            max_cost=max_cost, max_tokens=max_tokens, max_calls=max_calls, record=record, fresh=fresh,
            trust_journal=trust_journal, progress=True, cancel=stop,
        )  # fmt: skip
    show(evaluation_document(found), output_format)
    return ExitCode.INCONCLUSIVE if found.is_silent else ExitCode.OK
