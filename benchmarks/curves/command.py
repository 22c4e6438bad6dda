"""`python -m benchmarks curves`: the rule that ends hopeless trainings, replayed on whole
learning curves.
"""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.command import conduct, out_folder
from benchmarks.scorecard import Scorecard
from reenact.cli.options import Count
from reenact.settings import resolve
from reenact.types import ExitCode, Stop, Tell

FILE = "curves.jsonl"


@click.command()
@click.option(
    "--record",
    is_flag=True,
    help="Train programs whose curves are not kept yet in OUT; continues.",
)
@click.option(
    "--jobs",
    type=Count(1, 1024),
    default=1,
    show_default=True,
    help="With --record: at once.",
)
@click.option(
    "--limit-minutes",
    type=click.FloatRange(0.1, 6000),
    default=60.0,
    show_default=True,
    help="With --record: no program is finished later.",
)
@click.option(
    "--program",
    "programs",
    multiple=True,
    help="With --record: only programs whose name holds this word.",
)
@click.option(
    "--tune",
    is_flag=True,
    help="Try other constants of the rule on one half of the programs.",
)
@click.option("--pack", is_flag=True, help="Put the curves of OUT into the repository.")
@out_folder
def curves(
    record: bool,
    jobs: int,
    limit_minutes: float,
    programs: tuple[str, ...],
    tune: bool,
    pack: bool,
    out: Path | None,
) -> ExitCode:
    """Replay the rule on the curves of the repository, or on those that --record leaves in OUT."""
    from benchmarks.curves.card import scorecard
    from benchmarks.curves.kept import PACKED, pack_curves, read_kept
    from benchmarks.curves.record import record as record_curves

    file = (out or resolve().settings.runs_dir / "bench") / FILE

    def measure(tell: Tell, stop: Stop) -> Scorecard:
        if record:
            record_curves(
                file,
                programs=programs,
                jobs=jobs,
                minutes=limit_minutes,
                tell=tell,
                stop=stop,
            )
        kept = read_kept(file)
        if pack:
            pack_curves(kept)
        return scorecard(kept or read_kept(PACKED), tune=tune)

    return conduct(measure, out)
