"""`reenact fingerprint PAPER`: the facts of a paper that code must show, each with the words it rests on."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import click

from reenact.api import fingerprint as run_fingerprint
from reenact.api.reproduction import FINGERPRINT_PARTS
from reenact.cli.asking import model_options
from reenact.cli.calling import calling, trust_journal_option
from reenact.cli.options import output_format, show
from reenact.cli.pdf_option import pdf_reader_option
from reenact.cli.times import max_time_option
from reenact.report.views.fingerprint import fingerprint_document


@click.command()
@click.option("--task", default="", help="What of the paper matters; default: all of it.")
@click.option("--method", default="", help="The method, by the paper's name for it.")
@click.option("--metric", default="", help="The metric that counts.")
@click.option("--dataset", default="", help="The data set, by the paper's name for it.")
@click.option("--instruction", default="", help="Anything else that decides what matters.")
@click.option(
    "--addendum", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="What adds to the paper."
)
@click.option(
    "--without", multiple=True, type=click.Choice(FINGERPRINT_PARTS), help="Leave out a part of the method."
)
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
    trust_journal: bool, max_time: float | None, pdf_reader: str | None, model: str | None,
    max_cost: Decimal | None, max_tokens: int | None, max_calls: int | None, record: Path | None,
    output_format: str, source: str,
) -> int:  # fmt: skip
    """List what code must show to be a reproduction of PAPER: criteria, grounded in its own words.

    PAPER is an arXiv id or address, a LaTeX folder or archive, HTML, Markdown, a PDF or plain text. Exit code
    0: there are criteria, 3: none could be taken.
    """
    with calling(max_time) as stop:
        taken = run_fingerprint(
            source, task=task, method=method, metric=metric, dataset=dataset, instruction=instruction,
            addendum=addendum, without=without, pdf_reader=pdf_reader, sandbox=sandbox,
            trust_code=trust_code, max_time=max_time, model=model, max_cost=max_cost, max_tokens=max_tokens,
            max_calls=max_calls, record=record, fresh=fresh, trust_journal=trust_journal, progress=True,
            cancel=stop,
        )  # fmt: skip
    show(fingerprint_document(taken), output_format)
    return taken.exit_code
