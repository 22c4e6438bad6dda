"""`reenact evaluate CODE`: scores of generated code; what nobody could judge is stated and never a zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reenact.api.papers import evaluate as run_evaluation
from reenact.cli.calling import answer
from reenact.cli.options import (
    FILE,
    FOLDER,
    MODEL,
    NEW_FILE,
    RECORDED,
    RUN_SECONDS,
    Amount,
    Count,
    defaulted,
    option,
    shared,
)
from reenact.report.views.evaluation import evaluation_document


@click.command()
@click.option("--paper", help="The paper: LaTeX folder or archive, HTML, Markdown, PDF, arXiv id, text.")
@click.option("--align", is_flag=True, help="Judge the Align-Score: five key points of the paper, 0 to 100.")
@click.option("--reference", type=FOLDER, help="A reference implementation: adds the code and mixed levels.")
@option("--rubric", "Judge the code-development leaves of a rubric tree (PaperBench JSON).", FILE)
@option("--resources-provided", "Getting data and models weighs nothing in the rubric.", is_flag=True)
@click.option(
    "--form", "forms", multiple=True, type=NEW_FILE,
    help="A filled form of the human rubric; where there is none yet, an empty one is written.",
)  # fmt: skip
@click.option("--judgements", type=FILE, help="CSV (item, judge, judge, ...): how far the judges agree.")
@option("--expert", "An expert's list of the cited papers that matter, the first one first.", FILE)
@option("--chosen", "The lineage to compare with it; default: chosen now from the paper.", FILE)
@defaulted("--exemplars", Count(1, 20), 3, "k of Recall@k.")
@click.option("--edits", multiple=True, metavar="RUN", help="Count the edits of this run of `reenact paper`.")
@click.option(
    "--run", "metrics", multiple=True, type=click.Path(path_type=Path),
    help="metrics.json of one run; one that is not there counts as failed.",
)  # fmt: skip
@option("--execute", "Run train.py with this many seeds in the sandbox.", Count(0, 20), default=0)
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
