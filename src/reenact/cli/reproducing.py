"""`reenact bug REPORT`: a script that shows the bug, proven by running it; `reenact paper PAPER`:
code that runs, verified criterion by criterion, and the gap to its numbers; `reenact fingerprint
PAPER`: the facts that code must show; `reenact evaluate CODE`: scores of the code of a
reproduction.
"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from reenact.api import estimates
from reenact.api.bugs import ENVIRONMENTS, reproduce_bug
from reenact.api.papers import FINGERPRINT_PARTS, reproduce_paper
from reenact.api.papers import evaluate as run_evaluation
from reenact.api.papers import fingerprint as run_fingerprint
from reenact.bug.options import BugAblations, BugOptions
from reenact.cli import options as opt
from reenact.cli import spending
from reenact.cli.calling import answer
from reenact.cli.help import command
from reenact.cli.options import Count, defaulted, option, shared
from reenact.paper.options import PaperAblations, PaperOptions
from reenact.report.views.bug import bug_document
from reenact.report.views.evaluation import evaluation_document, fingerprint_document
from reenact.report.views.paper import paper_document
from reenact.types import ExitCode

PAPER = PaperOptions()
SCALE = opt.Amount(0, 1, above=True)
FORM = "A filled form of the human rubric; where there is none yet, an empty one is written."
METRICS = "metrics.json of one run; one that is not there counts as failed."
BUG = BugOptions()
STUB = "A module that may be empty where it is not installed."
AUTO = "auto takes this interpreter's packages where they satisfy the project, else builds."
out = partial(defaulted, "--out", opt.NEW_FOLDER, Path("reproduction"))
run_wall = partial(
    defaulted,
    "--run-wall",
    opt.RUN_SECONDS,
    PAPER.run_wall_s,
    name="run_time",
)


@command()
@click.option("--task", default="", help="What of the paper to reproduce; default: all of it.")
@shared("method", "metric", "dataset")
@click.option("--instruction", default="", help="Anything else that the code must keep to.")
@shared("addendum")
@click.option("--data", type=opt.FOLDER, help="Your folder of data; the code sees it read-only.")
@click.option(
    "--checkpoints",
    type=opt.FOLDER,
    help="Your folder of trained weights; read-only too.",
)
@click.option(
    "--library",
    type=opt.FOLDER,
    help="Cited papers and repositories, to be used offline.",
)
@out("Folder for the project, REPORT.md and report.html.")
@defaulted("--exemplars", Count(0, 10), PAPER.exemplars, "Cited papers that are looked into.")
@defaulted("--rounds", Count(0, 10), PAPER.rounds, "Revisions after verification.")
@defaulted("--seeds", Count(1, 20), PAPER.seeds, "Full runs.")
@defaulted(
    "--scale",
    SCALE,
    1.0,
    "Share of the paper's training to do; declared in every table.",
)
@run_wall("CPU seconds that a full run may take.")
@click.option(
    "--requirement",
    "requirements",
    multiple=True,
    help="A package that the code may use.",
)
@click.option(
    "--allow-packages",
    multiple=True,
    help="Packages that may be installed where the code asks.",
)
@option(
    "--claim",
    'What it claims, as in "accuracy of METHOD on DATA > 0.97".',
    name="claims",
    multiple=True,
)
@click.option(
    "--anyway",
    is_flag=True,
    help="Go on where the paper states nothing that could be compared.",
)
@click.option(
    "--no-repair",
    "repair",
    flag_value=False,
    default=True,
    help="State the gap and leave it.",
)
@option(
    "--without",
    "Leave out a part of the method.",
    click.Choice(PaperAblations.names()),
    multiple=True,
)
@click.option("--sandbox", help="Tier that runs the code; default: the best one here.")
@spending.dry_run
@shared("trust-code", *opt.RECORDED, "max-time", *opt.MODEL, "output-format")
@click.argument("paper")
def paper(paper: str, out: Path, dry_run: bool, **given: Any) -> int:
    """Reproduce PAPER: write its code, run it, verify it, and state the gap to its numbers.

    PAPER is an arXiv id or address, a LaTeX folder or archive, HTML, Markdown, a PDF or plain text.
    Exit code 0: reproduced, 1: partly or not, 3: inconclusive.
    """
    estimate = partial(estimates.paper_estimate, paper, given)
    if not spending.may_begin(estimate, dry_run=dry_run, max_cost=given["max_cost"]):
        return ExitCode.OK
    return answer(
        reproduce_paper,
        paper_document,
        paper,
        judges=True,
        out=out,
        **given,
    )


@command()
@shared("task", "method", "metric", "dataset")
@click.option("--instruction", default="", help="Anything else that decides what matters.")
@shared("addendum")
@option(
    "--without",
    "Leave out a part of the method.",
    click.Choice(FINGERPRINT_PARTS),
    multiple=True,
)
@click.option("--sandbox", help="Tier that parses the paper; default: the best one here.")
@shared("trust-code", *opt.RECORDED, "max-time", *opt.MODEL, "output-format")
@click.argument("paper")
def fingerprint(paper: str, **given: Any) -> int:
    """List what code must show to be a reproduction of PAPER: criteria, grounded in its own words.

    PAPER is an arXiv id or address, a LaTeX folder or archive, HTML, Markdown, a PDF or plain text.
    Exit code 0: there are criteria, 3: none could be taken.
    """
    return answer(run_fingerprint, fingerprint_document, paper, **given)


@command()
@click.option(
    "--paper",
    help="The paper: LaTeX folder or archive, HTML, Markdown, PDF, arXiv id, text.",
)
@click.option(
    "--align",
    is_flag=True,
    help="Judge the Align-Score: five key points of the paper, 0 to 100.",
)
@option(
    "--reference",
    "A reference implementation: adds the code and mixed levels.",
    opt.FOLDER,
)
@option(
    "--rubric",
    "Judge the code-development leaves of a rubric tree (PaperBench JSON).",
    opt.FILE,
)
@option(
    "--resources-provided",
    "Getting data and models weighs nothing in the rubric.",
    is_flag=True,
)
@option("--form", FORM, opt.NEW_FILE, "forms", multiple=True)
@click.option(
    "--judgements",
    type=opt.FILE,
    help="CSV (item, judge, judge, ...): how far the judges agree.",
)
@option(
    "--expert",
    "An expert's list of the cited papers that matter, the first one first.",
    opt.FILE,
)
@option(
    "--chosen",
    "The lineage to compare with it; default: chosen now from the paper.",
    opt.FILE,
)
@defaulted("--exemplars", Count(1, 20), 3, "k of Recall@k.")
@click.option(
    "--edits",
    multiple=True,
    metavar="RUN",
    help="Count the edits of this run of `reenact paper`.",
)
@option(
    "--run",
    METRICS,
    click.Path(path_type=Path),
    "metrics",
    multiple=True,
)
@option(
    "--execute",
    "Run train.py with this many seeds in the sandbox.",
    Count(0, 20),
    default=0,
)
@click.option("--data", type=opt.FOLDER, help="Your folder of data; the code sees it read-only.")
@run_wall("CPU seconds that one run may take.")
@click.option("--metric", default="", help="The metric of the gap, by its name in metrics.json.")
@click.option("--value", type=opt.Amount(), help="What the reference reaches of it.")
@click.option("--task", default="", help="What of the paper the code is for; default: all of it.")
@click.option("--instruction", default="", help="What else the code was asked for.")
@click.option("--sandbox", help="Tier that parses the paper; default: the best one here.")
@shared("trust-code", *opt.RECORDED, *opt.MODEL, "max-time", "output-format")
@click.argument("code", type=opt.FOLDER)
def evaluate(code: Path, **given: Any) -> int:
    """Score the generated CODE: always its quality, and each metric that an option asks for.

    Exit code 0: scored, 3: a judge was asked and could judge nothing.
    """
    return answer(run_evaluation, evaluation_document, code, **given)


@command()
@click.option(
    "--repo",
    required=True,
    help="The project: a folder, archive, git bundle or https address.",
)
@click.option(
    "--commit",
    help="The revision with the bug; default: the newest, or the folder as it is.",
)
@click.option(
    "--fixed",
    help="A revision without the bug, where the script must pass; or a folder, sdist or wheel.",
)
@click.option(
    "--bisect",
    metavar="GOOD..BAD",
    help="Find the commit that brought the bug among these, by the proven script.",
)
@out("Folder for repro.py, its facts and test, requirements.txt and REPORT.md.")
@defaulted("--seeds", Count(1, 50), BUG.seeds, "Random seeds.")
@defaulted(
    "--contexts",
    Count(1, 20),
    BUG.contexts,
    "Pieces of the project that are tried, best first.",
)
@defaulted("--attempts", Count(1, 20), BUG.attempts, "Scripts per context.")
@defaulted("--samples", Count(1, 20), 1, "First scripts per context.")
@defaulted(
    "--wall",
    opt.RUN_SECONDS,
    BUG.wall_s,
    "Seconds that one run may take.",
    name="run_time",
)
@defaulted("--environment", click.Choice(ENVIRONMENTS), "auto", AUTO)
@option(
    "--requirement",
    "Install this too, for example 'torch==2.1'.",
    name="requirements",
    multiple=True,
)
@click.option(
    "--allow-packages",
    multiple=True,
    help="Packages of the report that may be installed.",
)
@option("--allow-stub", STUB, name="allow_stubs", multiple=True)
@click.option(
    "--sparse",
    is_flag=True,
    help="Rank code by words alone, also where an embedder is installed.",
)
@click.option("--pytest", is_flag=True, help="Write a test too; it always is.")
@click.option(
    "--prove-requirements",
    is_flag=True,
    help="Install requirements.txt in a fresh environment, and judge the script there.",
)
@option(
    "--no-cause",
    "Do not look for the lines that are suspected.",
    None,
    "cause",
    flag_value=False,
    default=True,
)
@click.option(
    "--patch",
    is_flag=True,
    help="Ask the model for a patch, and keep one that the script and the project's tests pass.",
)
@click.option("--gpu", is_flag=True, help=opt.GPU)
@click.option(
    "--diagnose",
    is_flag=True,
    help="After a silent bug, read the training programs for faults.",
)
@option(
    "--no-minimise",
    "Keep the script as long as it came.",
    None,
    "minimise",
    flag_value=False,
    default=True,
)
@option(
    "--without",
    "Leave out a part of the method.",
    click.Choice(BugAblations.names()),
    multiple=True,
)
@click.option("--sandbox", help="Tier that runs the scripts; default: the best one here.")
@spending.dry_run
@shared("trust-code", *opt.RECORDED, "max-time", *opt.MODEL, "output-format")
@click.argument("report")
def bug(report: str, dry_run: bool, **given: Any) -> int:
    """Write a script that shows the bug of REPORT, and prove it by running it.

    REPORT is a file, `-`, or a GitHub issue (its address, or owner/name#number). Exit code 0:
    reproduced, 1: not reproduced, 3: inconclusive, shown without confirmation, or not to be decided
    on this machine.
    """
    estimate = partial(estimates.bug_estimate, report, given)
    if not spending.may_begin(estimate, dry_run=dry_run, max_cost=given["max_cost"]):
        return ExitCode.OK
    return answer(reproduce_bug, bug_document, report, judges=True, **given)
