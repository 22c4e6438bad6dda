"""`reenact paper PAPER`: code that runs, verified criterion by criterion, and the gap to its numbers;
`reenact fingerprint PAPER`: the facts that code must show, each with the words it rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reenact.api.papers import FINGERPRINT_PARTS, reproduce_paper
from reenact.api.papers import fingerprint as run_fingerprint
from reenact.cli.calling import answer
from reenact.cli.options import (
    FOLDER,
    MODEL,
    NEW_FOLDER,
    RECORDED,
    RUN_SECONDS,
    Amount,
    Count,
    defaulted,
    option,
    shared,
)
from reenact.paper.options import PaperAblations, PaperOptions
from reenact.paper.reproduction import Reproduction
from reenact.report.document import Document
from reenact.report.render import render
from reenact.report.views.fingerprint import fingerprint_document
from reenact.report.views.paper import paper_document

DEFAULTS = PaperOptions()
PAGE = "report.html"


@click.command()
@click.option("--task", default="", help="What of the paper to reproduce; default: all of it.")
@shared("method", "metric", "dataset")
@click.option("--instruction", default="", help="Anything else that the code must keep to.")
@shared("addendum")
@click.option("--data", type=FOLDER, help="Your folder of data; the code sees it read-only.")
@click.option("--checkpoints", type=FOLDER, help="Your folder of trained weights; read-only too.")
@click.option("--library", type=FOLDER, help="Cited papers and repositories, to be used offline.")
@defaulted("--out", NEW_FOLDER, Path("reproduction"), "Folder for the project, REPORT.md and report.html.")
@defaulted("--exemplars", Count(0, 10), DEFAULTS.exemplars, "Cited papers that are looked into.")
@defaulted("--rounds", Count(0, 10), DEFAULTS.rounds, "Revisions after verification.")
@defaulted("--seeds", Count(1, 20), DEFAULTS.seeds, "Full runs.")
@defaulted(
    "--scale", Amount(0, 1, above=True), 1.0, "Share of the paper's training to do; declared in every table."
)
@defaulted(
    "--run-wall", RUN_SECONDS, DEFAULTS.run_wall_s, "Seconds that a full run may take.", name="run_time"
)
@click.option("--requirement", "requirements", multiple=True, help="A package that the code may use.")
@click.option(
    "--claim", "claims", multiple=True, help='What it claims, as in "accuracy of METHOD on DATA > 0.97".'
)
@click.option("--anyway", is_flag=True, help="Go on where the paper states nothing that could be compared.")
@click.option("--no-repair", "repair", flag_value=False, default=True, help="State the gap and leave it.")
@option("--without", "Leave out a part of the method.", click.Choice(PaperAblations.names()), multiple=True)
@click.option("--sandbox", help="Tier that runs the code; default: the best one here.")
@shared("trust-code", *RECORDED, "max-time", *MODEL, "output-format")
@click.argument("paper")
def paper(paper: str, out: Path, **given: Any) -> int:
    """Reproduce PAPER: write its code, run it, verify it, and state the gap to its numbers.

    PAPER is an arXiv id or address, a LaTeX folder or archive, HTML, Markdown, a PDF or plain text. Exit code
    0: reproduced, 1: partly or not, 3: inconclusive.
    """

    def view(result: Reproduction) -> Document:
        document = paper_document(result)
        (out / PAGE).write_text(render(document, "html"), encoding="utf-8")
        return document

    return answer(reproduce_paper, view, paper, out=out, **given)


@click.command()
@shared("task", "method", "metric", "dataset")
@click.option("--instruction", default="", help="Anything else that decides what matters.")
@shared("addendum")
@option("--without", "Leave out a part of the method.", click.Choice(FINGERPRINT_PARTS), multiple=True)
@click.option("--sandbox", help="Tier that parses the paper; default: the best one here.")
@shared("trust-code", *RECORDED, "max-time", *MODEL, "output-format")
@click.argument("paper")
def fingerprint(paper: str, **given: Any) -> int:
    """List what code must show to be a reproduction of PAPER: criteria, grounded in its own words.

    PAPER is an arXiv id or address, a LaTeX folder or archive, HTML, Markdown, a PDF or plain text. Exit code
    0: there are criteria, 3: none could be taken.
    """
    return answer(run_fingerprint, fingerprint_document, paper, **given)
