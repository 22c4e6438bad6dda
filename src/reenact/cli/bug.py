"""`reenact bug REPORT --repo PROJECT`: a script that shows the bug, proven by running it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reenact.api.bugs import ENVIRONMENTS, reproduce_bug
from reenact.bug.options import BugAblations, BugOptions
from reenact.cli.calling import answer
from reenact.cli.options import MODEL, NEW_FOLDER, RECORDED, RUN_SECONDS, Count, defaulted, option, shared
from reenact.report.views.bug import bug_document

DEFAULTS = BugOptions()


@click.command()
@click.option("--repo", required=True, help="The project: a folder, archive, git bundle or https address.")
@click.option("--commit", help="The revision with the bug; default: the newest, or the folder as it is.")
@click.option("--fixed", help="A revision without the bug: the script must pass there.")
@defaulted("--out", NEW_FOLDER, Path("reproduction"), "Folder for repro.py, requirements.txt and REPORT.md.")
@defaulted("--seeds", Count(1, 50), DEFAULTS.seeds, "Random seeds.")
@defaulted("--contexts", Count(1, 20), DEFAULTS.contexts, "Pieces of the project that are tried, best first.")
@defaulted("--attempts", Count(1, 20), DEFAULTS.attempts, "Scripts per context.")
@defaulted("--samples", Count(1, 20), 1, "First scripts per context.")
@defaulted("--wall", RUN_SECONDS, DEFAULTS.wall_s, "Seconds that one run may take.", name="run_time")
@defaulted(
    "--environment",
    click.Choice(ENVIRONMENTS),
    "auto",
    "auto takes this interpreter's packages where they satisfy the project, else builds.",
)
@click.option(
    "--requirement", "requirements", multiple=True, help="Install this too, for example 'torch==2.1'."
)
@click.option("--allow-packages", multiple=True, help="Packages of the report that may be installed.")
@click.option(
    "--allow-stub", "allow_stubs", multiple=True, help="A module that may be empty where it is not installed."
)
@click.option("--sparse", is_flag=True, help="Rank code by words alone, also where an embedder is installed.")
@click.option("--pytest", is_flag=True, help="Write a pytest file too.")
@click.option("--diagnose", is_flag=True, help="After a silent bug, read the training programs for faults.")
@click.option(
    "--no-minimise", "minimise", flag_value=False, default=True, help="Keep the script as long as it came."
)
@option("--without", "Leave out a part of the method.", click.Choice(BugAblations.names()), multiple=True)
@click.option("--sandbox", help="Tier that runs the scripts; default: the best one here.")
@shared("trust-code", *RECORDED, "max-time", *MODEL, "output-format")
@click.argument("report")
def bug(report: str, **given: Any) -> int:
    """Write a script that shows the bug of REPORT, and prove it by running it.

    REPORT is a file, `-`, or a GitHub issue (its address, or owner/name#number). Exit code 0: reproduced,
    1: not reproduced, 3: inconclusive, or shown without confirmation.
    """
    return answer(reproduce_bug, bug_document, report, **given)
