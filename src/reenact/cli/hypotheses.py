"""`reenact test-hypothesis PROGRAM`: what somebody believes is wrong, tested by execution;
`reenact keep RUN`: its check as a test of the user's project.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from reenact.api.hypotheses import test_hypothesis as run_test
from reenact.cli import options as opt
from reenact.cli.calling import PROGRAM, STDERR, answer, program_words
from reenact.cli.help import command
from reenact.types import ExitCode

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
ABOUT = click.Choice(["training", "evaluation", "leak", "selection"])
EXPECTS = click.Choice(["better", "lower but honest", "other", "same"])
SHOWS = "What holds of `observed` while the fault is there: differs, same, above N, below N, ..."


@command("test-hypothesis", context_settings=PROGRAM)
@click.option("--claim", required=True, help="The property that should hold, in words.")
@click.option("--edit", type=FILE, required=True, help="A diff after which it holds.")
@click.option("--check", type=FILE, required=True, help="A script that leaves `observed`.")
@opt.defaulted("--shows", str, "differs", SHOWS)
@opt.defaulted("--tolerance", opt.CONFIDENCE, 1e-4, "Relative difference that is none.")
@opt.defaulted("--about", ABOUT, "training", "What the fault spoils.")
@opt.defaulted("--expects", EXPECTS, "better", "What the metric is expected to do.")
@opt.option("--second", "Another fix, by somebody who has not seen the first.", FILE)
@click.option("--effect/--no-effect", default=True, help="Train both over fresh seeds.")
@opt.option("--metric", "The metric that judges, for example val_accuracy.")
@opt.defaulted("--seeds", opt.Count(6, 10), 10, "The most fresh seeds.")
@opt.shared("max-time", "training-time", "stand-in-data", "python")
@click.option("--sandbox", help="Tier that runs check and edit; default: the best one here.")
@opt.shared(*opt.RECORDED)
@opt.shared(*opt.MODEL, "output-format")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def test_hypothesis(program: tuple[str, ...], **given: Any) -> int:
    """Test by execution what you believe is wrong with the training PROGRAM.

    The check reaches into the program by `import reenact_reach` (module, until, at, steps) and leaves
    `observed` and, where one is needed, `reference`. Red before and green after the edit is where it
    begins: the same must be seen on programs in other words, after irrelevant edits, with other
    settings, later, and in the metric over fresh seeds. Exit code 1: proven or likely; 0: refuted, or a
    remark; 3: the check could not tell.
    """
    from reenact.report.views.hypothesis import hypothesis_document

    view = partial(hypothesis_document, title=" ".join(program))
    words = program_words(program)
    return answer(run_test, view, words, judges=False, output=STDERR, **given)


test_hypothesis.__test__ = False  # type: ignore[attr-defined]  # its name is not a test of pytest's


@command()
@click.argument("run", default="last")
@click.option("--pytest", "file", type=opt.NEW_FILE, required=True, help="The file to write.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def keep(run: str, file: Path, force: bool) -> ExitCode:
    """Write the check of a tested claim as a test of your project: it fails while the fault is
    there and passes after the fix.

    RUN is a run of `reenact test-hypothesis` whose claim is proven, likely or a remark: an id, a part
    of one that no other run has, a number, or `last`. Nothing is run.
    """
    from reenact.api.keeping import keep as keep_check

    opt.echo(keep_check(run, file=file, force=force))
    return ExitCode.OK
