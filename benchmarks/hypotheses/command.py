"""`python -m benchmarks hypotheses`: wrong claims about sound programs, and true ones, tested by
execution.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from benchmarks.command import conduct, out_folder
from benchmarks.scorecard import Scorecard
from reenact.cli.options import Count
from reenact.settings import resolve
from reenact.types import ExitCode, Stop, Tell

KINDS = ("both", "wrong", "true")


@click.command()
@click.option("--set", "which", type=click.Choice(KINDS), default="both", show_default=True)
@click.option("--program", "words", multiple=True, help="Only cases whose name has this word.")
@click.option(
    "--no-effect",
    is_flag=True,
    help="The gates that are executions of the check alone; train nothing over fresh seeds.",
)
@click.option("--jobs", type=Count(1, 64), default=1, show_default=True, help="Cases at once.")
@click.option(
    "--again", is_flag=True, help="Execute the cases that have no result of this reenact."
)
@click.option("--fresh", is_flag=True, help="With --again: also those that have one.")
@click.option(
    "--model",
    help="Asked for a fix of its own and for reasons against each claim: relay:FOLDER, ...",
)
@click.option("--store", is_flag=True, help="Keep the verdicts for tables that execute nothing.")
@out_folder
def hypotheses(
    which: Literal["both", "wrong", "true"],
    words: tuple[str, ...],
    no_effect: bool,
    jobs: int,
    again: bool,
    fresh: bool,
    model: str | None,
    store: bool,
    out: Path | None,
) -> ExitCode:
    """Test wrong claims about sound programs, and true ones about faulty programs.

    Prints the table from stored verdicts; --again executes: each case is `reenact test-hypothesis`
    with a check that is red before and green after its edit, and what was stopped continues. Exit
    code 0: at most one wrong claim in ten is proven or likely, and most true ones are.
    """
    from benchmarks.hypotheses.card import scorecard
    from benchmarks.hypotheses.case import catalogue
    from benchmarks.hypotheses.case_run import UNKNOWN, unknown
    from benchmarks.hypotheses.measure import Plan, known_results, measure_all
    from benchmarks.hypotheses.measure import store as store_verdicts

    cases = catalogue(words, which)
    folder = out or resolve().settings.runs_dir / "bench"
    plan = Plan(folder, effect=not no_effect, jobs=jobs, fresh=fresh, model=model)

    def measure(tell: Tell, stop: Stop) -> Scorecard:
        if again or fresh:
            results = measure_all(cases, plan, tell=tell, stop=stop)
        else:
            known = known_results(cases, plan)
            results = [known.get(case.id) or unknown(case, plan.effect) for case in cases]
        if store:
            store_verdicts([one for one in results if one.status != UNKNOWN])
        whole = which == "both" and not words
        return scorecard(cases, results, effect=plan.effect, whole=whole)

    return conduct(measure, out)
