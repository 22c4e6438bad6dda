"""`reenact neutral PROGRAM`: other repairs than the known one, found by walking through neutral changes."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from reenact.cli.journal_option import open_journal, trust_journal_option
from reenact.cli.options import (
    RANDOM_SEED,
    REPAIR_BUDGET,
    REPEATS,
    WORKERS,
    Count,
    output_format,
    show,
    stopping_gently,
)
from reenact.cli.times import max_time_option
from reenact.cli.watch import PROGRAM, program_words
from reenact.program.program import read_program
from reenact.repairs.alternatives.graph import NeutralityGraph, Node, NodeKind
from reenact.report.neutral_plot import Seen, neutral_plot
from reenact.report.progress import telling
from reenact.report.sheet import Facts, Picture, Sheet
from reenact.report.svg import number
from reenact.settings import resolve
from reenact.types import ExitCode, Table

SHOWN = 15


@click.command(context_settings=PROGRAM)
@click.option(
    "--known",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The program with the known repair; without it the program itself is the measure.",
)
@click.option(
    "--budget",
    type=REPAIR_BUDGET,
    default="200x",
    show_default=True,
    help="A multiple of one training (200x), a time (5m) or trainings (400t).",
)
@click.option("--trainings", type=Count(2, 10_000), default=10, show_default=True, help="A node.")
@click.option("--top", type=REPEATS, default=5, show_default=True, help="That go on.")
@click.option("--metric", help="The metric that judges.")
@click.option("--chance", type=RANDOM_SEED, default=0, help="Other dice for the walk.")
@click.option("--workers", type=WORKERS, default=0, help="Trainings at once; default: one a core.")
@click.option("--python", help="Interpreter to use; default: the active one.")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Write the graph as a drawing.")
@click.option("--fresh", is_flag=True, help="Reuse nothing of earlier runs, continue none.")
@trust_journal_option
@max_time_option
@output_format
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def neutral(
    known: Path | None, budget: str, trainings: int, top: int, metric: str | None, chance: int, workers: int,
    python: str | None, svg: Path | None, fresh: bool, max_time: float | None,
    output_format: str, program: tuple[str, ...],
) -> int:  # fmt: skip
    """Walk from the training PROGRAM through changes that are no worse, and list those that repair it.

    Exit code 0: alternatives were found; 1: none.
    """
    from reenact.repairs.alternatives.pipeline import AlternativesOptions, AlternativesServices, analyse

    settings = resolve({"python": python, "max_time": max_time}).settings
    wishes = AlternativesOptions(budget, trainings, top, metric or "", settings.python, workers, chance)
    read = read_program(program_words(program))
    beside = read_program((str(known),)) if known is not None else None
    with (
        open_journal(settings.runs_dir) as journal,
        stopping_gently(settings.max_time) as stop,
        telling() as tell,
    ):
        services = AlternativesServices(
            journal=journal, traces=settings.runs_dir / "traces", tell=tell, stop=stop,
            stdout=sys.stderr.fileno(), argv=tuple(sys.argv[1:]), fresh=fresh,
        )  # fmt: skip
        found = analyse(read, wishes, services, beside)
    picture = drawn(found)
    if svg is not None:
        svg.write_text(picture.svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1), "utf-8")
    show(_sheet(found, " ".join(program), picture), output_format)
    return ExitCode.OK if found.alternatives else ExitCode.FOUND


def drawn(found: NeutralityGraph) -> Picture:
    """The graph."""
    seen = [
        Seen(node.parent, node.standing, f"{_value(node, found)}: {_words(node)}") for node in found.nodes
    ]
    plot, alt = neutral_plot(seen)
    return Picture(plot.title, plot.draw(f"Neutrality graph: {alt}"), alt)


def _words(node: Node) -> str:
    return "the known repair" if node.standing is NodeKind.KNOWN else str(node.patch)


def _sheet(found: NeutralityGraph, title: str, picture: Picture) -> Sheet:
    others = found.alternatives
    better = sum(node.standing is NodeKind.BETTER for node in others)
    facts = Facts(
        "",
        (
            ("judged by", found.metric),
            ("trained", f"{found.trained} changed programs"),
            ("neutral", f"{sum(node.parent >= 0 for node in found.nodes)} of them"),
            ("ended", found.ended),
        ),
    )
    rows = tuple(
        (_value(node, found), node.standing.value, str(node.patch.complexity), str(node.patch))
        for node in others[:SHOWN]
    )
    table = Table(
        f"Alternatives, the best {len(rows)}", (found.metric, "beside the known", "changes", "change"), rows
    )
    return Sheet(
        kind="neutral",
        title=f"Neutrality of {title}",
        verdict=f"{len(others)} alternative repairs, {better} significantly better than the known one.",
        blocks=(facts, picture, table),
        data=found.to_json(),
    )


def _value(node: Node, found: NeutralityGraph) -> str:
    return number(node.fitness if found.larger_is_better else -node.fitness)
