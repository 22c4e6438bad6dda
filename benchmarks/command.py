"""`python -m benchmarks NAME`: measure reenact, print goals beside what was reached, keep the
full result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import click

from benchmarks.results import FOLDER, Result, result_of, write_result
from benchmarks.scorecard import Boxes, Drawing, Scorecard
from benchmarks.svg_boxes import boxes, standalone
from reenact.cli.calling import stopping_gently
from reenact.cli.main import LazyGroup
from reenact.cli.options import REPEATS, show
from reenact.report.document import Document
from reenact.report.progress import telling
from reenact.report.render import render
from reenact.settings import resolve
from reenact.types import ExitCode, JsonValue, Stop, Table, Tell

BENCHES = {
    "sandbox": (
        "benchmarks.command:sandbox",
        "Hostile and benign programs on each tier; start cost.",
    ),
    "probe": (
        "benchmarks.command:probe",
        "What watching a training costs, as ratios to the unobserved run.",
    ),
    "faults": (
        "benchmarks.faults.command:faults",
        "Diagnose every program of the fault benchmark; scores.",
    ),
    "repair": (
        "benchmarks.repairs.command:repair",
        "Repair every fault of the benchmark by each strategy.",
    ),
    "effects": (
        "benchmarks.faults.command:effects",
        "Whether the faults of the benchmark do harm here.",
    ),
    "neutral": (
        "benchmarks.faults.command:neutral",
        "Find other repairs of the faults of the benchmark.",
    ),
    "trainings": (
        "benchmarks.dataset.command:trainings",
        "Diagnose or repair a split of the data set.",
    ),
    "fixes": (
        "benchmarks.dataset.fixes:fixes",
        "Count the fixes of findings on the opened splits.",
    ),
    "field": (
        "benchmarks.dataset.command:field",
        "Diagnose programs that nobody here wrote; halves apart.",
    ),
    "modern": (
        "benchmarks.dataset.command:modern",
        "Diagnose trainings as they are written today.",
    ),
    "bugs": (
        "benchmarks.bugs.command:bugs",
        "Show the bug of every report; verdicts against the truth.",
    ),
    "papers": (
        "benchmarks.papers.command:papers",
        "Reproduce papers with known numbers; gaps and verdicts.",
    ),
    "forged": (
        "benchmarks.forged.command:forged",
        "Forged results and scripts: none may be believed.",
    ),
    "hypotheses": (
        "benchmarks.hypotheses.command:hypotheses",
        "Wrong claims about sound programs must not count, true ones should.",
    ),
    "trials": (
        "benchmarks.speed.command:trials",
        "Many trainings: our executors, Ray Tune, Optuna, a loop.",
    ),
    "curves": (
        "benchmarks.curves.command:curves",
        "The rule that ends hopeless trainings, replayed.",
    ),
    "cost": (
        "benchmarks.cost.command:cost",
        "What commands take as their input grows, with slopes.",
    ),
    "lint": (
        "benchmarks.linting.command:lint",
        "Static rules over a hundred files, beside ruff.",
    ),
    "web": (
        "benchmarks.web.command:web",
        "Page time of `reenact view` against runs and steps.",
    ),
    "reuse": (
        "benchmarks.reuse.command:reuse",
        "Trainings that a second identical command reuses.",
    ),
    "blind": (
        "benchmarks.blind.command:blind",
        "Whether verdicts change when programs are written otherwise.",
    ),
    "first": (
        "benchmarks.first_finding:first",
        "Time to the first true finding on examples/broken.",
    ),
    "train-detector": (
        "benchmarks.detector.command:train_detector",
        "Train the learned detector.",
    ),
    "fetch": (
        "benchmarks.faults.command:fetch",
        "Fetch the data sets of the fault benchmark.",
    ),
    "pages": (
        "benchmarks.pages:pages",
        "Write the tables of docs/benchmarks and README from results files.",
    ),
}
FIGURES = ("figure", "value", "95 % interval", "count")
MET = {True: "met", False: "MISSED", None: "not measured"}


@click.group(
    cls=LazyGroup,
    verbs=BENCHES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
def bench() -> None:
    """Measure reenact itself: exit 0 all goals met, 1 one missed, 3 not measured."""


def out_folder(measure: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    """`--out FOLDER`: where JSON and Markdown are written, and results/NAME.json, which makes
    the page.
    """
    option = click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder for the result.",
    )
    return option(measure)


@bench.command()
@click.option("--tier", help="Measure this tier only; default: every tier that works here.")
@out_folder
def sandbox(tier: str | None, out: Path | None) -> ExitCode:
    """Run every hostile and benign program on the sandbox tiers of this machine."""
    from benchmarks.hostile.measure import measure

    return conduct(lambda tell, stop: measure(tier=tier, tell=tell, stop=stop), out)


@bench.command()
@click.option(
    "--repeats",
    type=REPEATS,
    default=7,
    show_default=True,
    help="Pairs a program and preset.",
)
@click.option(
    "--program",
    "programs",
    multiple=True,
    help="Only programs whose name holds this word.",
)
@click.option(
    "--large",
    is_flag=True,
    help="A hundred million parameters, eight data workers, a day's trace.",
)
@out_folder
def probe(repeats: int, programs: tuple[str, ...], large: bool, out: Path | None) -> ExitCode:
    """Train six programs with and without the probe and compare."""
    if large:
        from benchmarks.watching.large import measure_large

        return conduct(lambda tell, stop: measure_large(tell=tell, stop=stop), out)
    from benchmarks.watching.measure import measure

    return conduct(
        lambda tell, stop: measure(tell=tell, stop=stop, repeats=repeats, programs=programs),
        out,
    )


def conduct(measure: Callable[[Tell, Stop], Scorecard], out: Path | None) -> ExitCode:
    """Run one benchmark with progress, write its result, print it, and end with its closing
    line.
    """
    settings = resolve().settings
    with stopping_gently() as stop, telling(settings.progress) as tell:
        card = measure(tell, stop)
    show(document_of(keep(card, out)), "full")
    return card.exit_code


def keep(card: Scorecard, out: Path | None) -> Result:
    """Write a result down: JSON, Markdown, its drawings, which the Markdown shows, and the
    results file.
    """
    result = result_of(card)
    document = replace(document_of(result), data={**_data(result), "facts": card.facts})
    folder = out or resolve().settings.runs_dir / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{card.name}.json").write_text(render(document, "json"), encoding="utf-8")
    links = []
    for plot in card.plots:
        file = folder / f"{card.name}-{plot.name}.svg"
        file.write_text(_drawn(plot), encoding="utf-8")
        links.append(f"![{plot.title}]({file.name})\n\n{plot.title}\n")
    text = render(document, "markdown")
    (folder / f"{card.name}.md").write_text("\n".join([text, *links]), encoding="utf-8")
    write_result(result, folder / FOLDER)
    return result


def _drawn(plot: Boxes | Drawing) -> str:
    if isinstance(plot, Drawing):
        return standalone(plot.svg)
    drawn = boxes(
        plot.rows,
        plot.title,
        below=plot.below,
        marks=plot.marks,
        marked=plot.marked,
        goal=plot.goal,
        bounds=plot.bounds,
    )
    return standalone(drawn)


def document_of(result: Result) -> Document:
    """Figures, tables and goals as every format shows them."""
    goals = tuple((goal.name, goal.wanted, goal.reached, MET[goal.met]) for goal in result.goals)
    figures = tuple(figure.row for figure in result.figures.values())
    return Document(
        kind=f"bench-{result.name}",
        title=f"Benchmark {result.name}",
        verdict=f"{result.name}: {result.closing}",
        blocks=(
            *([Table("Figures", FIGURES, figures)] if figures else []),
            *result.tables,
            *([Table("Goals", ("goal", "wanted", "reached", ""), goals)] if goals else []),
        ),
        data=_data(result),
    )


def _data(result: Result) -> dict[str, JsonValue]:
    return {"figures": result.closing, "goals": [asdict(goal) for goal in result.goals]}
