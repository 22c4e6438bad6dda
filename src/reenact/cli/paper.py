"""`reenact paper PAPER`: code that runs, verified criterion by criterion, and the gap to its numbers."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import click

from reenact.api import reproduce_paper
from reenact.cli.asking import model_options
from reenact.cli.calling import calling, trust_journal_option
from reenact.cli.options import RUN_SECONDS, Amount, Count, output_format, show
from reenact.cli.pdf_option import pdf_reader_option
from reenact.cli.times import max_time_option
from reenact.paper.options import PaperAblations, PaperOptions
from reenact.report.render import render
from reenact.report.views.paper import paper_document

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
@click.option("--seeds", type=Count(1, 20), default=DEFAULTS.seeds, show_default=True, help="Full runs.")
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
    data: Path | None, checkpoints: Path | None, library: Path | None, out: Path, exemplars: int,
    rounds: int, seeds: int, scale: float, run_wall: float, requirement: tuple[str, ...], no_repair: bool,
    without: tuple[str, ...], sandbox: str | None, trust_code: bool | None, fresh: bool,
    trust_journal: bool, max_time: float | None, pdf_reader: str | None, model: str | None,
    max_cost: Decimal | None, max_tokens: int | None, max_calls: int | None, record: Path | None,
    output_format: str, source: str,
) -> int:  # fmt: skip
    """Reproduce PAPER: write its code, run it, verify it, and state the gap to its numbers.

    PAPER is an arXiv id or address, a LaTeX folder or archive, HTML, Markdown, a PDF or plain text. Exit code
    0: reproduced, 1: partly or not, 3: inconclusive.
    """
    with calling(max_time) as stop:
        found = reproduce_paper(
            source, task=task, method=method, metric=metric, dataset=dataset, instruction=instruction,
            addendum=addendum, data=data, checkpoints=checkpoints, library=library, out=out,
            exemplars=exemplars, rounds=rounds, seeds=seeds, scale=scale, run_time=run_wall,
            requirements=requirement, repair=not no_repair, without=without, pdf_reader=pdf_reader,
            sandbox=sandbox, trust_code=trust_code, max_time=max_time, model=model, max_cost=max_cost,
            max_tokens=max_tokens, max_calls=max_calls, record=record, fresh=fresh,
            trust_journal=trust_journal, progress=True, cancel=stop,
        )  # fmt: skip
    document = paper_document(found)
    (out / PAGE).write_text(render(document, "html"), encoding="utf-8")
    show(document, output_format)
    return found.verdict.exit_code
