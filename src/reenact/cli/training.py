"""`reenact diagnose PROGRAM`: what is wrong with this training, where, and what happens if it is
changed; `reenact repair PROGRAM`: the smallest change that makes the training significantly better,
as a diff; `reenact alternatives PROGRAM`: other repairs than the known one, found through neutral
changes; `reenact mutate PROGRAM`: faults put into a training on purpose, and whether the training
notices them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reenact.api.estimates import Estimate
from reenact.api.session import open_session
from reenact.api.training import apply_fix, refuse_dirty_program
from reenact.api.training import diagnose as run_diagnosis
from reenact.api.training import repair as run_repair
from reenact.cli import options as opt
from reenact.cli import spending
from reenact.cli.calling import PROGRAM, STDERR, answer, calling, program_words
from reenact.cli.help import command
from reenact.diagnosis.options import EXPERIMENTS, Depth
from reenact.errors import UnreadableProgram
from reenact.program.program import read_program
from reenact.repairs.strategies.strategy import BUILT_IN
from reenact.report.document import Document, Facts
from reenact.report.views.diagnosis import diagnosis_document
from reenact.result import encoded
from reenact.types import ExitCode, JsonValue, Table

if TYPE_CHECKING:
    from reenact.diagnosis.diagnosis import Diagnosis
    from reenact.diagnosis.mutate.operators import Mutant
    from reenact.diagnosis.mutate.pipeline import Killings
    from reenact.program.program import Program

DEPTHS = click.Choice([depth.value for depth in Depth])
SPACES = click.Choice(["own", "study"])
DEPTH = "static reads; quick watches one run; normal and deep change the suspects and train."
EXPERIMENT = "Share of the training's own time that each small experiment may take."
BUDGET = "A multiple of one training (200x), a time (5m) or trainings (400t)."
RULES = "Only what these find: faults or detectors by code, prefix, name, family."
TRACE = (
    "Judge the trace in this folder of `reenact watch --out FOLDER`, also while it grows; nothing "
    "is run."
)
KNOWN = "The program with the known repair; without it the program itself is the measure."


@command(context_settings=PROGRAM)
@opt.defaulted("--depth", DEPTHS, "quick", DEPTH)
@opt.shared("select", "ignore")
@opt.option(
    "--budget",
    "For normal and deep: 20x one training, 40t trainings, 5m.",
    opt.DIAGNOSE_BUDGET,
)
@opt.option("--metric", "The metric that judges a change, for example val_accuracy.")
@opt.shared("threshold")
@click.option("--learned", is_flag=True, help="Ask the learned detector too.")
@opt.option("--suspect", "What you believe is wrong; needs --model, which looks at it.")
@opt.defaulted("--experiments", opt.CONFIDENCE, EXPERIMENTS, EXPERIMENT)
@opt.shared(
    "workers",
    "executor",
    "data",
    "max-time",
    "training-time",
    "prune",
    "stand-in-data",
    "python",
)
@opt.shared(*opt.RECORDED)
@click.option(
    "--fix",
    is_flag=True,
    help="Write the first fix that ran into the files, with a backup.",
)
@click.option(
    "--allow-dirty",
    is_flag=True,
    help="With --fix: also over changes that were not committed.",
)
@opt.defaulted("--samples", opt.Count(1, 20), 2, "How often the model is asked.")
@spending.dry_run
@opt.option("--trace", TRACE, click.Path(path_type=Path))
@opt.shared(*opt.MODEL, "output-format")
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
def diagnose(
    program: tuple[str, ...],
    trace: Path | None,
    fix: bool,
    allow_dirty: bool,
    dry_run: bool,
    **given: Any,
) -> int:
    """Say what is wrong with the training PROGRAM, at which layer and line, and what would fix it.

    PROGRAM is a script, a notebook or `-m package` with its arguments. Its source is never changed;
    it runs as you run it, and changed copies of it run in scratch folders. Exit code 0: a training
    was seen and nothing speaks against it; 1: findings, or a broken training; 3: nothing to judge.
    Ctrl-C ends the training and judges what was seen; a second one leaves with 130.
    """
    if fix and (trace is not None or given["depth"] == Depth.STATIC):
        raise click.UsageError(
            "--fix writes what ran, and this runs nothing: `reenact lint --fix` goes by the text."
        )
    if trace is not None:
        return _diagnose_trace(trace, program, given)
    if not program:
        raise click.UsageError(
            "Missing argument 'PROGRAM...'. Name a training program, or give --trace."
        )
    words = program_words(program)
    if fix and not allow_dirty:
        refuse_dirty_program(words)

    def view(found: Diagnosis) -> Document:
        shown = apply_fix(found, allow_dirty=allow_dirty) if fix else found
        return diagnosis_document(shown, " ".join(program))

    estimate = partial(_diagnosis_estimate, words, given)
    if not spending.may_begin(estimate, dry_run=dry_run, max_cost=given["max_cost"]):
        return ExitCode.OK
    return answer(
        run_diagnosis,
        view,
        words,
        judges=True,
        answered=True,
        output=STDERR,
        **given,
    )


def _diagnosis_estimate(words: list[str], given: Mapping[str, Any]) -> Estimate:
    from reenact.api.estimates import after_a_run, training_estimate
    from reenact.diagnosis.options import PLANS, budget_for

    depth = Depth(given["depth"])
    work = "one watched run" if depth.runs else "nothing is run"
    if depth.intervenes:
        budget = budget_for(depth, given["budget"] or "")
        work = after_a_run(budget, 2 * PLANS[depth].seeds)
    return training_estimate(words, work, given, tests=depth.runs)


def _repair_estimate(words: list[str], given: Mapping[str, Any]) -> Estimate:
    from reenact.api.estimates import after_a_run, training_estimate
    from reenact.repairs.options import RepairOptions

    budget = RepairOptions(budget=given["budget"] or "").allowed
    work = after_a_run(budget, 2 * given["seeds"])
    # The strategy asks again, after the diagnosis.
    rounds = 2 if given["strategy"] == "llm" else 1
    return training_estimate(words, work, given, rounds=rounds)


def _diagnose_trace(
    folder: Path,
    program: tuple[str, ...],
    given: Mapping[str, Any],
) -> int:
    """Judge what was seen so far of a training under `reenact watch`; nothing is run."""
    from reenact.api.training import diagnose_trace

    found = diagnose_trace(
        folder,
        program=program_words(program) if program else None,
        select=given["select"],
        ignore=given["ignore"],
        threshold=given["threshold"],
    )
    document = diagnosis_document(
        found,
        title=" ".join(program) or str(folder),
    )
    opt.show(document, given["output_format"])
    return found.exit_code


@command(context_settings=PROGRAM)
@opt.defaulted(
    "--strategy",
    str,
    "guided",
    f"How to search: {', '.join(BUILT_IN)}.",
)
@opt.option(
    "--budget",
    "For search and minimising: a multiple of one training (20x), a time (5m), trainings (40t); "
    "default: 20x, and more where one takes less than 1.5 s.",
    opt.REPAIR_BUDGET,
)
@opt.option("--metric", "The metric that judges, for example val_accuracy.")
@opt.defaulted("--seeds", opt.Count(6, 1000), 10, "Fresh seeds for the final verification.")
@opt.option("--select", RULES, multiple=True, callback=opt.listed)
@opt.shared("ignore")
@opt.defaulted(
    "--space",
    SPACES,
    "own",
    "Values for random, bohb and hebo: ours, or those of the study.",
)
@opt.shared("search-seed")
@opt.defaulted("--samples", opt.Count(1, 20), 5, "How often the model is asked.")
@click.option(
    "--temperature",
    type=opt.Amount(0, 2),
    help="Temperature of the answers that the strategy llm asks for.",
)
@opt.shared(
    "workers",
    "executor",
    "data",
    "max-time",
    "training-time",
    "prune",
    "stand-in-data",
    "python",
)
@click.option(
    "--apply",
    is_flag=True,
    help="Write a verified change into the files, with a backup.",
)
@click.option(
    "--branch",
    help="With --apply: a new git branch instead; the files stay as they are.",
)
@click.option(
    "--allow-dirty",
    is_flag=True,
    help="With --apply: also over changes that were not committed.",
)
@spending.dry_run
@opt.shared(*opt.RECORDED, *opt.MODEL, "output-format", "program")
def repair(program: tuple[str, ...], dry_run: bool, **given: Any) -> int:
    """Find the smallest change that makes the training PROGRAM significantly better.

    Changed copies of it are trained in scratch folders; your files are changed only by --apply, and
    only when the change held on fresh seeds. Exit code 0: repaired, improved, fixed, or good
    already; 1: nothing found that matters, or better while a proven fault is still there; 3: what
    was found did not hold, or no training could be compared. Ctrl-C ends the search and reports
    the best change so far; a second one leaves with 130.
    """
    from reenact.report.views.repair import repair_document

    view = partial(repair_document, title=" ".join(program))
    words = program_words(program)
    estimate = partial(_repair_estimate, words, given)
    if not spending.may_begin(estimate, dry_run=dry_run, max_cost=given["max_cost"]):
        return ExitCode.OK
    return answer(
        run_repair,
        view,
        words,
        judges=True,
        answered=True,
        output=STDERR,
        **given,
    )


@command(context_settings=PROGRAM)
@opt.option("--known", KNOWN, opt.FILE)
@opt.defaulted("--budget", opt.REPAIR_BUDGET, "200x", BUDGET)
@opt.defaulted("--trainings", opt.Count(2, 10_000), 10, "Trainings per node.")
@opt.defaulted("--top", opt.REPEATS, 5, "Nodes kept per round.")
@click.option("--metric", help="The metric that judges.")
@opt.shared("search-seed", "workers", "python")
@opt.option("--svg", "Write the graph as a drawing.", opt.NEW_FILE)
@opt.shared(*opt.RECORDED, "max-time", "output-format", "program")
def alternatives(
    program: tuple[str, ...],
    known: Path | None,
    svg: Path | None,
    output_format: str,
    **given: Any,
) -> int:
    """Walk from the training PROGRAM through changes that are no worse, and list those that repair
    it.

    Exit code 0: alternatives were found; 1: none.
    """
    from reenact.diagnosis.services import DiagnoseServices
    from reenact.repairs.alternatives import AlternativesOptions, analyse
    from reenact.report.views.alternatives import alternatives_document, neutrality_plot

    read = read_program(program_words(program))
    beside = None
    if known is not None:
        beside = read_program((str(known),))
    given["progress"] = True
    with (
        calling(given["max_time"]) as stop,
        open_session({**given, "cancel": stop}) as session,
    ):
        options = AlternativesOptions(
            given["budget"],
            given["trainings"],
            given["top"],
            given["metric"] or "",
            session.settings.python,
            given["workers"],
            given["search_seed"],
        )
        services = session.services(
            DiagnoseServices,
            output=STDERR,
            fresh=given["fresh"],
        )
        found = analyse(read, options, services, beside)
    if svg is not None:
        drawing = neutrality_plot(found).svg
        svg.write_text(
            drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1),
            "utf-8",
        )
    opt.show(
        alternatives_document(found, " ".join(program)),
        output_format,
    )
    return ExitCode.OK if found.alternatives else ExitCode.FOUND


@command(context_settings=PROGRAM)
@click.option(
    "--operator",
    "operators",
    multiple=True,
    help="Only this operator, or this fault code.",
)
@click.option("--operators", "listing", is_flag=True, help="List the operators and end.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Write a diff for each mutant into this folder.",
)
@click.option(
    "--kill",
    "killing",
    is_flag=True,
    help="Train original and mutants, say which are noticed.",
)
@opt.defaulted("--seeds", opt.Count(2, 1000), 5, "Trainings of each, for --kill.")
@click.option("--most", type=opt.REPEATS, help="At most this many mutants per operator.")
@click.option("--metric", help="The metric that judges, for example val_accuracy.")
@opt.shared("workers", "python", "max-time", "output-format")
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
def mutate(
    operators: tuple[str, ...],
    listing: bool,
    out: Path | None,
    killing: bool,
    seeds: int,
    most: int | None,
    metric: str | None,
    workers: int,
    python: str | None,
    max_time: float | None,
    output_format: str,
    program: tuple[str, ...],
) -> ExitCode:
    """List the mutants of the training PROGRAM: the same program with one fault put in on purpose.

    PROGRAM is a script, a notebook or `-m package` with its arguments; its files are never changed.
    With --kill the original and its mutants are trained over seeds; a mutant is killed when the
    training gets worse with p < 0.05 (generalised linear model) and an effect of at least 0.5
    (Cohen's d).
    """
    from reenact.diagnosis.mutate.pipeline import KillOptions, chosen, kill, mutants
    from reenact.diagnosis.services import DiagnoseServices

    wanted = chosen(operators)
    if listing:
        opt.show(_catalogue(), output_format)
        return ExitCode.OK
    if not program:
        raise click.UsageError("Name a training program, or give --operators.")
    read = read_program(program_words(program))
    for file in read.unparsed:
        if file.path == read.entry:
            raise UnreadableProgram(
                f"The program cannot be parsed: {file.unparsed}. Received: {read.entry}.",
                next_step="Correct it; `reenact lint` shows the place.",
            )
    by_operator = groupby(
        mutants(read, wanted),
        key=lambda mutant: mutant.operator,
    )
    found = [mutant for _, same in by_operator for mutant in islice(same, most)]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for number, one in enumerate(found, 1):
            (out / f"{number:03d}-{one.operator}.diff").write_text(
                one.patch.diff(read), encoding="utf-8"
            )
    killed = None
    if killing:
        given = {"python": python, "max_time": max_time, "progress": True}
        options = KillOptions(
            seeds=seeds,
            metric=metric or "",
            workers=workers,
        )
        with (
            calling(max_time) as stop,
            open_session({**given, "cancel": stop}) as session,
        ):
            options = replace(options, python=session.settings.python)
            killed = kill(read, found, options, session.services(DiagnoseServices))
    opt.show(_mutants(read, found, killed), output_format)
    return ExitCode.OK


def _mutants(
    program: Program,
    found: list[Mutant],
    killed: Killings | None,
) -> Document:
    if killed is None:
        columns: tuple[str, ...] = ("no", "operator", "fault", "change")
        rows = [(str(number), *_cells(one)) for number, one in enumerate(found, 1)]
        verdict = f"{len(found)} mutants. --out writes their diffs, --kill trains them."
        data: JsonValue = [
            {
                **encoded(one),  # type: ignore[dict-item]
                "diff": one.patch.diff(program),
            }
            for one in found
        ]
    else:
        columns = ("operator", "fault", "change", "p", "effect", "verdict")
        rows = [
            (
                *_cells(one),
                f"{it.p_value:.3g}",
                f"{it.effect:.2f}",
                "killed" if it.killed else "alive",
            )
            for one, it in killed.by_mutant
        ]
        dead = sum(killing.killed for _, killing in killed.by_mutant)
        verdict = f"{dead} of {len(rows)} mutants killed, judged by {killed.measure.name}."
        data = killed.to_dict()
    title = f"Mutants of {program.entry}"
    table = Table("", columns, tuple(rows))
    return Document("mutate", title, verdict, (table,), data=data)


def _cells(one: Mutant) -> tuple[str, ...]:
    return one.operator, one.fault.value, str(one.patch)


def _catalogue() -> Document:
    from reenact.diagnosis.mutate.operators import OPERATORS
    from reenact.diagnosis.mutate.pipeline import DEEPCRIME, covered

    rows = tuple(
        (
            one.name,
            one.fault.value,
            one.what,
            " ".join(one.covers) or "-",
        )
        for one in OPERATORS
    )
    ours = covered()
    left = "; ".join(f"{code} {text}" for code, text in DEEPCRIME.items() if code not in ours)
    verdict = f"{len(rows)} operators; they cover {len(ours)} of DeepCrime's {len(DEEPCRIME)}."
    table = Table("", ("operator", "fault", "what", "DeepCrime"), rows)
    data = [
        {
            "name": one.name,
            "fault": one.fault.value,
            "what": one.what,
        }
        for one in OPERATORS
    ]
    blocks = (table, Facts("", (("not covered", left),)))
    return Document("mutate", "Mutation operators", verdict, blocks, data=data)
