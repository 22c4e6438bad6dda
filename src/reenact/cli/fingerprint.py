"""`reenact fingerprint PAPER`: the facts of a paper that code must show, each with the words it rests on."""

from __future__ import annotations

from typing import Any

import click

from reenact.api import fingerprint as run_fingerprint
from reenact.api.papers import FINGERPRINT_PARTS
from reenact.cli.calling import answer
from reenact.cli.options import MODEL, RECORDED, shared
from reenact.report.views.fingerprint import fingerprint_document


@click.command()
@shared("task", "method", "metric", "dataset")
@click.option("--instruction", default="", help="Anything else that decides what matters.")
@shared("addendum")
@click.option(
    "--without", multiple=True, type=click.Choice(FINGERPRINT_PARTS), help="Leave out a part of the method."
)
@click.option("--sandbox", help="Tier that parses the paper; default: the best one here.")
@shared("trust-code", *RECORDED, "max-time", *MODEL, "output-format")
@click.argument("paper")
def fingerprint(paper: str, **given: Any) -> int:
    """List what code must show to be a reproduction of PAPER: criteria, grounded in its own words.

    PAPER is an arXiv id or address, a LaTeX folder or archive, HTML, Markdown, a PDF or plain text. Exit code
    0: there are criteria, 3: none could be taken.
    """
    return answer(run_fingerprint, fingerprint_document, paper, **given)
