"""`reenact fingerprint PAPER`: the facts of a paper that code must show, each with the words it rests on."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import click

from reenact.cli.asking import model_options, open_asked, settings_with_model
from reenact.cli.fingerprint_view import Taken, fingerprint_sheet
from reenact.cli.journal_option import open_journal, trust_journal_option
from reenact.cli.options import output_format, show, stopping_gently
from reenact.cli.papers import addendum_text, opened_paper
from reenact.cli.pdf_option import pdf_reader_option
from reenact.cli.times import max_time_option
from reenact.journal import mark
from reenact.paper.fingerprint.take import take_fingerprint
from reenact.paper.options import Goal, PaperAblations
from reenact.report.progress import telling
from reenact.types import ExitCode

PARTS = ("scan", "atomicity")
"""Parts of the method that have to do with fingerprints."""


@click.command()
@click.option("--task", default="", help="What of the paper matters; default: all of it.")
@click.option("--method", default="", help="The method, by the paper's name for it.")
@click.option("--metric", default="", help="The metric that counts.")
@click.option("--dataset", default="", help="The data set, by the paper's name for it.")
@click.option("--instruction", default="", help="Anything else that decides what matters.")
@click.option(
    "--addendum", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="What adds to the paper."
)
@click.option("--without", multiple=True, type=click.Choice(PARTS), help="Leave out a part of the method.")
@click.option("--sandbox", help="Tier that parses the paper; default: the best one here.")
@click.option("--trust-code", is_flag=True, default=None, help="Allow a sandbox that confines nothing.")
@click.option("--fresh", is_flag=True, help="Reuse nothing of earlier runs, continue none.")
@trust_journal_option
@max_time_option
@pdf_reader_option
@model_options
@output_format
@click.argument("source", metavar="PAPER")
def fingerprint(
    task: str, method: str, metric: str, dataset: str, instruction: str, addendum: Path | None,
    without: tuple[str, ...], sandbox: str | None, trust_code: bool | None, fresh: bool,
    max_time: float | None, pdf_reader: str | None, model: str | None, max_cost: Decimal | None,
    max_tokens: int | None, max_calls: int | None, record: Path | None, output_format: str, source: str,
) -> int:  # fmt: skip
    """List what code must show to be a reproduction of PAPER: criteria, grounded in its own words.

    PAPER is an arXiv id or address, a LaTeX folder or archive, HTML, Markdown, a PDF or plain text. Exit code
    0: there are criteria, 3: none could be taken.
    """
    flags = {
        "model": model, "max_cost": max_cost, "max_tokens": max_tokens, "max_calls": max_calls,
        "max_time": max_time, "sandbox": sandbox, "trust_code": trust_code, "pdf_reader": pdf_reader,
    }  # fmt: skip
    settings = settings_with_model(flags, "A paper is read by a model")
    goal = Goal(task, method, metric, dataset, instruction, addendum_text(addendum))
    with (
        open_journal(settings.runs_dir) as journal,
        stopping_gently(settings.max_time) as stop,
        telling() as tell,
    ):
        paper = opened_paper(source, settings, stop=stop)
        asked = open_asked(settings, record=record, stop=stop, tell=tell)
        request = {
            "paper": mark(paper.text()), "goal": goal.text(), "addendum": mark(goal.addendum),
            "without": sorted(without), "model": asked.name,
        }  # fmt: skip
        what = f"{paper.title[:80]} ({source})"
        with journal.run(
            story="fingerprint", request=request, argv=tuple(sys.argv[1:]), what=what, fresh=fresh
        ) as run:
            found = take_fingerprint(paper, goal, asked, run, PaperAblations.without(*without))
            code = ExitCode.OK if found.criteria else ExitCode.INCONCLUSIVE
            run.note("result", found.to_json())
            taken = Taken(paper, found, run.record, run.reused)
            run.finish({"criteria": len(found.criteria), "dropped": len(found.dropped)}, code)
    show(fingerprint_sheet(taken), output_format)
    return code
