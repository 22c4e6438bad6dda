"""`reenact mutate PROGRAM`: faults put into a training on purpose, and whether the training notices them."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path

import click

from reenact.api.session import open_session
from reenact.cli.calling import PROGRAM, calling, program_words
from reenact.cli.options import REPEATS, Count, defaulted, shared, show
from reenact.diagnosis.mutate.mutant import Mutant
from reenact.diagnosis.mutate.operators import OPERATORS
from reenact.diagnosis.mutate.pipeline import DEEPCRIME, Killings, KillOptions, chosen, covered, kill, mutants
from reenact.diagnosis.pipeline import DiagnoseServices
from reenact.program.program import Program, read_program
from reenact.report.document import Document, Facts
from reenact.result import encoded
from reenact.types import ExitCode, JsonValue, Table


@click.command(context_settings=PROGRAM)
@click.option("--operator", "operators", multiple=True, help="Only this operator, or this fault code.")
@click.option("--operators", "listing", is_flag=True, help="List the operators and end.")
@click.option("--out", type=click.Path(path_type=Path), help="Write a diff for each mutant into this folder.")
@click.option("--kill", "killing", is_flag=True, help="Train original and mutants, say which are noticed.")
@defaulted("--seeds", Count(2, 1000), 5, "Trainings of each, for --kill.")
@click.option("--most", type=REPEATS, help="At most this many mutants per operator.")
@click.option("--metric", help="The metric that judges, for example val_accuracy.")
@shared("workers", "python", "max-time", "output-format")
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
def mutate(
    operators: tuple[str, ...], listing: bool, out: Path | None, killing: bool, seeds: int, most: int | None,
    metric: str | None, workers: int, python: str | None, max_time: float | None, output_format: str,
    program: tuple[str, ...],
) -> ExitCode:  # fmt: skip
    """List the mutants of the training PROGRAM: the same program with one fault put in on purpose.

    PROGRAM is a script, a notebook or `-m package` with its arguments; its files are never changed. With
    --kill the original and its mutants are trained over seeds; a mutant is killed when the training gets
    worse with p < 0.05 (generalised linear model) and an effect of at least 0.5 (Cohen's d).
    """
    wanted = chosen(operators)
    if listing:
        show(_catalogue(), output_format)
        return ExitCode.OK
    if not program:
        raise click.UsageError("Name a training program, or give --operators.")
    read = read_program(program_words(program))
    by_operator = groupby(mutants(read, wanted), key=lambda mutant: mutant.operator)
    found = [mutant for _, same in by_operator for mutant in islice(same, most)]
    if out is not None:
        _write(read, found, out)
    killed = None
    if killing:
        with calling(max_time) as stop:
            given = {"python": python, "max_time": max_time, "progress": True, "cancel": stop}
            killed = _killed(
                read, found, KillOptions(seeds=seeds, metric=metric or "", workers=workers), given
            )
    show(_document(read, found, killed), output_format)
    return ExitCode.OK


def _killed(
    program: Program, found: list[Mutant], options: KillOptions, given: Mapping[str, object]
) -> Killings:
    with open_session(given) as session:
        options = replace(options, python=session.settings.python)
        return kill(program, found, options, session.services(DiagnoseServices))


def _write(program: Program, found: list[Mutant], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for number, mutant in enumerate(found, 1):
        name = f"{number:03d}-{mutant.operator}.diff"
        (out / name).write_text(mutant.patch.diff(program), encoding="utf-8")


def _document(program: Program, found: list[Mutant], killed: Killings | None) -> Document:
    title = f"Mutants of {program.entry}"
    if killed is None:
        columns: tuple[str, ...] = ("no", "operator", "fault", "change")
        rows = [(str(number), *_cells(one)) for number, one in enumerate(found, 1)]
        verdict = f"{len(found)} mutants. --out writes their diffs, --kill trains them."
        data: JsonValue = [{**encoded(one), "diff": one.patch.diff(program)} for one in found]  # type: ignore[dict-item]
    else:
        columns = ("operator", "fault", "change", "p", "effect", "verdict")
        rows = [
            (*_cells(one), f"{it.p_value:.3g}", f"{it.effect:.2f}", "killed" if it.killed else "alive")
            for one, it in killed.by_mutant
        ]
        dead = sum(killing.killed for _, killing in killed.by_mutant)
        verdict = f"{dead} of {len(rows)} mutants killed, judged by {killed.measure.name}."
        data = killed.to_dict()
    return Document("mutate", title, verdict, (Table("", columns, tuple(rows)),), data=data)


def _cells(one: Mutant) -> tuple[str, ...]:
    return one.operator, one.fault.value, str(one.patch)


def _catalogue() -> Document:
    rows = tuple((one.name, one.fault.value, one.what, " ".join(one.covers) or "-") for one in OPERATORS)
    ours = covered()
    left = "; ".join(f"{code} {text}" for code, text in DEEPCRIME.items() if code not in ours)
    return Document(
        "mutate",
        "Mutation operators",
        f"{len(rows)} operators; they cover {len(ours)} of DeepCrime's {len(DEEPCRIME)}.",
        (Table("", ("operator", "fault", "what", "DeepCrime"), rows), Facts("", (("not covered", left),))),
        data=[{"name": one.name, "fault": one.fault.value, "what": one.what} for one in OPERATORS],
    )
