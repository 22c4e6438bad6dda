"""`reenact bug REPORT --repo PROJECT`: a script that shows the bug, proven by running it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import click

from reenact.api import reproduce_bug
from reenact.api.reproduction import ENVIRONMENTS
from reenact.bug.options import BugAblations, BugOptions
from reenact.cli.asking import model_options
from reenact.cli.calling import calling, trust_journal_option
from reenact.cli.options import RUN_SECONDS, Count, output_format, show
from reenact.cli.times import max_time_option
from reenact.report.views.bug import bug_document

DEFAULTS = BugOptions()


@click.command()
@click.option("--repo", required=True, help="The project: a folder, archive, git bundle or https address.")
@click.option("--commit", help="The revision with the bug; default: the newest, or the folder as it is.")
@click.option("--fixed", help="A revision without the bug: the script must pass there.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("reproduction"),
    show_default=True, help="Folder for repro.py, requirements.txt and REPORT.md.",
)  # fmt: skip
@click.option("--seeds", type=Count(1, 50), default=DEFAULTS.seeds, show_default=True, help="Random seeds.")
@click.option(
    "--contexts",
    type=Count(1, 20),
    default=DEFAULTS.contexts,
    show_default=True,
    help="Pieces of the project that are tried, best first.",
)
@click.option(
    "--attempts", type=Count(1, 20), default=DEFAULTS.attempts, show_default=True,
    help="Scripts per context.",
)  # fmt: skip
@click.option("--samples", type=Count(1, 20), default=1, show_default=True, help="First scripts per context.")
@click.option(
    "--wall",
    type=RUN_SECONDS,
    default=DEFAULTS.wall_s,
    show_default=True,
    help="Seconds that one run may take.",
)
@click.option(
    "--environment", type=click.Choice(ENVIRONMENTS), default="auto", show_default=True,
    help="auto takes this interpreter's packages where they satisfy the project, else builds.",
)  # fmt: skip
@click.option("--requirement", multiple=True, help="Install this too, for example 'torch==2.1'.")
@click.option("--allow-packages", multiple=True, help="Packages of the report that may be installed.")
@click.option("--allow-stub", multiple=True, help="A module that may be empty where it is not installed.")
@click.option("--sparse", is_flag=True, help="Rank code by words alone, also where an embedder is installed.")
@click.option("--pytest", "with_pytest", is_flag=True, help="Write a pytest file too.")
@click.option("--diagnose", is_flag=True, help="After a silent bug, read the training programs for faults.")
@click.option("--no-minimise", is_flag=True, help="Keep the script as long as it came.")
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(BugAblations.names()),
    help="Leave out a part of the method.",
)
@click.option("--sandbox", help="Tier that runs the scripts; default: the best one here.")
@click.option("--trust-code", is_flag=True, default=None, help="Allow a sandbox that confines nothing.")
@click.option("--fresh", is_flag=True, help="Reuse nothing of earlier runs, continue none.")
@trust_journal_option
@max_time_option
@model_options
@output_format
@click.argument("report")
def bug(
    repo: str, commit: str | None, fixed: str | None, out: Path, seeds: int, contexts: int, attempts: int,
    samples: int, wall: float, environment: str, requirement: tuple[str, ...],
    allow_packages: tuple[str, ...], allow_stub: tuple[str, ...], sparse: bool, with_pytest: bool,
    diagnose: bool, no_minimise: bool, without: tuple[str, ...], sandbox: str | None,
    trust_code: bool | None, fresh: bool, trust_journal: bool, max_time: float | None, model: str | None,
    max_cost: Decimal | None, max_tokens: int | None, max_calls: int | None, record: Path | None,
    output_format: str, report: str,
) -> int:  # fmt: skip
    """Write a script that shows the bug of REPORT, and prove it by running it.

    REPORT is a file, `-`, or a GitHub issue (its address, or owner/name#number). Exit code 0: reproduced,
    1: not reproduced, 3: inconclusive, or shown without confirmation.
    """
    with calling(max_time) as stop:
        found = reproduce_bug(
            report, repo=repo, commit=commit, fixed=fixed, out=out, seeds=seeds, contexts=contexts,
            attempts=attempts, samples=samples, run_time=wall, environment=environment,
            requirements=requirement, allow_packages=allow_packages, allow_stubs=allow_stub, sparse=sparse,
            pytest=with_pytest, diagnose=diagnose, minimise=not no_minimise, without=without,
            sandbox=sandbox, trust_code=trust_code, max_time=max_time, model=model, max_cost=max_cost,
            max_tokens=max_tokens, max_calls=max_calls, record=record, fresh=fresh,
            trust_journal=trust_journal, progress=True, cancel=stop,
        )  # fmt: skip
    show(bug_document(found), output_format)
    return found.verdict.exit_code
