"""`reenact judge REPRO`: whether a bug shows on the project in this folder, for `git bisect run`."""

from pathlib import Path
from typing import Any

import click

from reenact.cli import options as opt
from reenact.cli.help import command
from reenact.cli.options import defaulted, echo, shared


@command()
@click.option("--repo", default=".", help="The project; default: the current folder.")
@click.option("--commit", help="The revision; default: the folder as it is.")
@defaulted(
    "--wall",
    opt.RUN_SECONDS,
    120.0,
    "Seconds that one run may take.",
    name="run_time",
)
@click.option("--gpu", is_flag=True, help=opt.GPU)
@click.option("--sandbox", help="Tier that runs the script; default: the best one here.")
@shared("trust-code", "max-time")
@click.argument("repro", type=click.Path(path_type=Path))
def judge(repro: Path, **given: Any) -> int:
    """Say whether the bug that REPRO shows is there in the project of this folder.

    REPRO is the repro.py that `reenact bug` wrote; it runs in the sandbox. Exit code 1: the bug
    shows, 0: it does not, 125: it could not be run, or ran another copy of the project. Use it as
    `git bisect run reenact judge repro.py`.
    """
    from reenact.api.bugs import judge_bug
    from reenact.bug.repro.judged import Judgement
    from reenact.cli.calling import calling
    from reenact.errors import ReenactError, Stopped

    try:
        with calling() as stop:
            found = judge_bug(repro, cancel=stop, **given)
    except Stopped:
        raise
    except ReenactError as error:
        # `git bisect` takes every code from 1 to 124 for a bad revision.
        echo(f"It cannot be judged: {error.sentence} {error.next_step}".rstrip())
        return int(Judgement.CANNOT_BE_RUN)
    echo(found.sentence)
    return int(found.judgement)
