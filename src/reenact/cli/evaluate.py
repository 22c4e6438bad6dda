"""`reenact evaluate CODE`: scores of generated code; what nobody could judge is stated and never a zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reenact.api import evaluate as run_evaluation
from reenact.cli.calling import answer
from reenact.cli.options import MODEL, RECORDED, RUN_SECONDS, Amount, Count, defaulted, shared
from reenact.report.views.evaluation import evaluation_document

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option("--paper", help="The paper: LaTeX folder or archive, HTML, Markdown, PDF, arXiv id, text.")
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
@defaulted("--exemplars", Count(1, 20), 3, "k of Recall@k.")
@click.option("--edits", multiple=True, metavar="RUN", help="Count the edits of this run of `reenact paper`.")
@click.option(
    "--run", "metrics", multiple=True, type=click.Path(path_type=Path),
    help="metrics.json of one run; one that is not there counts as failed.",
)  # fmt: skip
@click.option(
    "--execute", type=Count(0, 20), default=0, help="Run train.py with this many seeds in the sandbox."
)
@click.option("--data", type=FOLDER, help="Your folder of data; the code sees it read-only.")
@defaulted("--run-wall", RUN_SECONDS, 3600.0, "Seconds that one run may take.", name="run_time")
@click.option("--metric", default="", help="The metric of the gap, by its name in metrics.json.")
@click.option("--value", type=Amount(), help="What the reference reaches of it.")
@click.option("--task", default="", help="What of the paper the code is for; default: all of it.")
@click.option("--instruction", default="", help="What else the code was asked for.")
@click.option("--sandbox", help="Tier that parses the paper; default: the best one here.")
@shared("trust-code", *RECORDED, *MODEL, "max-time", "output-format")
@click.argument("code", type=FOLDER)
def evaluate(code: Path, **given: Any) -> int:
    """Score the generated CODE: always its quality, and each metric that an option asks for.

    Exit code 0: scored, 3: a judge was asked and could judge nothing.
    """
    return answer(run_evaluation, evaluation_document, code, **given)
