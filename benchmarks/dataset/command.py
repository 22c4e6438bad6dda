"""`python -m benchmarks trainings --split NAME`; `modern` and `field` are aliases with old
names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.command import conduct, out_folder
from benchmarks.dataset.asked import Asked
from benchmarks.dataset.part import part_of
from benchmarks.dataset.splits import (
    Split,
    published,
    split_named,
    splits,
    trainings_of,
)
from benchmarks.dataset.training import Training
from benchmarks.scorecard import Scorecard
from reenact.cli.options import Count, show
from reenact.errors import InputError
from reenact.report.document import Document
from reenact.settings import resolve
from reenact.types import ExitCode, Stop, Table, Tell

Command = Callable[..., ExitCode]


@dataclass(frozen=True)
class Wanted:
    """Which trainings of a split."""

    split: Split
    only: tuple[str, ...] = ()
    kind: str | None = None

    @property
    def trainings(self) -> tuple[Training, ...]:
        """In the order of the split. Raises InputError."""
        members = trainings_of(self.split)
        unknown = set(self.only) - {word for one in members for word in (one.id, one.shown)}
        if unknown:
            raise InputError(
                f"Not programs of the split {self.split.name}. Received: "
                f"{', '.join(sorted(unknown))}."
            )
        return tuple(one for one in members if self._has(one))

    def _has(self, training: Training) -> bool:
        is_named = not self.only or training.id in self.only or training.shown in self.only
        return is_named and self.kind in (None, "sound" if training.sound else "faulty")


def common_options(command: Command) -> Command:
    """Those of every run over a split."""
    options = (
        click.option(
            "--depth",
            type=click.Choice(["quick", "normal"]),
            default="quick",
            show_default=True,
        ),
        click.option(
            "--only",
            multiple=True,
            metavar="ID",
            help="Only this program; may be repeated.",
        ),
        click.option(
            "--kind",
            type=click.Choice(["faulty", "sound"]),
            help="Only these programs; default: both.",
        ),
        click.option(
            "--jobs",
            type=Count(1, 1024),
            default=1,
            show_default=True,
            help="Programs at once.",
        ),
        out_folder,
    )
    for option in reversed(options):
        command = option(command)
    return command


def repair_options(command: Command) -> Command:
    """Those of a repair."""
    options = (
        click.option(
            "--repair",
            is_flag=True,
            help="Repair the faulty programs instead of diagnosing them.",
        ),
        click.option(
            "--budget",
            default="",
            help="With --repair: its budget, as 20x or 40t; default: the usual.",
        ),
        click.option(
            "--seeds",
            type=Count(6, 100),
            default=10,
            show_default=True,
            help="With --repair: random seeds that judge it.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def minutes_option(default: float | None = None) -> Callable[[Command], Command]:
    """Most minutes for one program."""
    return click.option(
        "--limit-minutes",
        type=click.FloatRange(0.1, 600),
        default=default,
        help="Most minutes for one program; default: by depth and task.",
    )


def checkouts_option(name: str, *, required: bool) -> Callable[[Command], Command]:
    """Where foreign programs are."""
    return click.option(
        name,
        "checkouts",
        required=required,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Folder that holds the repositories of foreign programs, each under its name.",
    )


@click.command()
@click.option(
    "--split",
    "name",
    help="Which trainings: a split, or A, B or C of those that were drawn; without it the splits are listed.",
)
@repair_options
@click.option(
    "--model",
    default="",
    help="Ask this model too; `replay:FOLDER` holds a recording ID.jsonl per training.",
)
@click.option(
    "--others",
    is_flag=True,
    help="Not reenact but other tools that are installed, on the same.",
)
@checkouts_option("--checkouts", required=False)
@minutes_option()
@click.option(
    "--lock",
    is_flag=True,
    help="Write the hashes of new splits to LOCK and run nothing.",
)
@common_options
def trainings(
    name: str | None,
    lock: bool,
    others: bool,
    out: Path | None,
    only: tuple[str, ...],
    kind: str | None,
    **options: Any,
) -> ExitCode:
    """Diagnose or repair the trainings of a split and score what is named. Continues where it
    was stopped.
    """
    if lock:
        return _lock_new()
    if name is None:
        return _list_splits()
    part = part_of(name)
    if part is not None:
        return _run_part(name, part, only, _asked(**options), out)
    return run(Wanted(split_named(name), only, kind), _asked(**options), others=others, out=out)


@click.command()
@click.option(
    "--half",
    type=click.Choice(list(published("modern"))),
    default="confirm",
    show_default=True,
    help="The split that was published under this name.",
)
@minutes_option(default=5)
@click.option(
    "--others",
    is_flag=True,
    help="Not reenact but other tools that are installed, on the same.",
)
@common_options
def modern(
    half: str,
    others: bool,
    out: Path | None,
    only: tuple[str, ...],
    kind: str | None,
    **options: Any,
) -> ExitCode:
    """Diagnose trainings as they are written today: `trainings` on splits of programs that are
    kept here.
    """
    return run(
        Wanted(published("modern")[half], only, kind),
        _asked(**options),
        others=others,
        out=out,
    )


@click.command()
@checkouts_option("--cases", required=True)
@click.option(
    "--half",
    type=click.Choice(list(published("field"))),
    default="tune",
    show_default=True,
    help="The split that was published under this name.",
)
@repair_options
@minutes_option()
@common_options
def field(
    half: str, out: Path | None, only: tuple[str, ...], kind: str | None, **options: Any
) -> ExitCode:
    """Diagnose programs that nobody here wrote: `trainings` on the splits of foreign programs."""
    return run(Wanted(published("field")[half], only, kind), _asked(**options), out=out)


def _asked(
    *,
    depth: str,
    jobs: int,
    limit_minutes: float | None,
    repair: bool = False,
    budget: str = "",
    seeds: int = 10,
    model: str = "",
    checkouts: Path | None = None,
) -> Asked:
    return Asked(
        repair=repair,
        depth=depth,
        budget=budget,
        seeds=seeds,
        model=model,
        minutes=limit_minutes,
        jobs=jobs,
        checkouts=checkouts,
    )


def run(wanted: Wanted, asked: Asked, *, others: bool = False, out: Path | None = None) -> ExitCode:
    """One split, as it was locked."""
    from benchmarks.dataset.lock import require_locked

    require_locked(wanted.split)
    members = wanted.trainings
    kept = resolve().settings.runs_dir / "bench" / "trainings"
    if others:
        return conduct(lambda tell, stop: _others(wanted, members, asked, kept, tell, stop), out)
    if asked.repair:
        faulty = [training for training in members if not training.sound]
        return conduct(lambda tell, stop: _repaired(wanted, faulty, asked, kept, tell, stop), out)
    return conduct(lambda tell, stop: _diagnosed(wanted, members, asked, kept, tell, stop), out)


def _run_part(
    name: str, part: tuple[Split, ...], only: tuple[str, ...], asked: Asked, out: Path | None
) -> ExitCode:
    """The splits of one part together, as they were locked."""
    from benchmarks.dataset.lock import require_locked

    if asked.repair:
        raise InputError("A part is diagnosed. Expected: one of its splits with --repair.")
    for split in part:
        require_locked(split)
    members = [(split, training) for split in part for training in trainings_of(split)]
    chosen = [one for one in members if not only or one[1].id in only]
    kept = resolve().settings.runs_dir / "bench" / "trainings"
    return conduct(
        lambda tell, stop: _part(name, chosen, asked, kept, tell, stop, whole=not only), out
    )


def _part(
    name: str,
    members: list[tuple[Split, Training]],
    asked: Asked,
    kept: Path,
    tell: Tell,
    stop: Stop,
    *,
    whole: bool,
) -> Scorecard:
    from benchmarks.dataset.layout_part import part_scorecard
    from benchmarks.dataset.part import measured_part
    from benchmarks.dataset.readings import read_readings
    from benchmarks.dataset.runner import diagnose_all

    trainings = [training for _, training in members]
    results = diagnose_all(trainings, asked, kept, tell=tell, stop=stop)
    measured = measured_part(name, members, results, read_readings())
    sheets = kept / f"sheets-{name}"
    sheets.mkdir(parents=True, exist_ok=True)
    for case in measured.unread:
        (sheets / f"{case.training.id}.md").write_text(case.sheet.text, encoding="utf-8")
    return part_scorecard(measured, whole=whole)


Members = tuple[Training, ...] | list[Training]


def _diagnosed(
    wanted: Wanted, members: Members, asked: Asked, kept: Path, tell: Tell, stop: Stop
) -> Scorecard:
    from benchmarks.dataset.card import scorecard
    from benchmarks.dataset.runner import diagnose_all
    from benchmarks.dataset.scoring import scored

    results = diagnose_all(members, asked, kept, tell=tell, stop=stop)
    return scorecard(
        scored(wanted.split, members, results, depth=asked.depth, whole=not wanted.only)
    )


def _repaired(
    wanted: Wanted, members: Members, asked: Asked, kept: Path, tell: Tell, stop: Stop
) -> Scorecard:
    from benchmarks.dataset.repair_card import repair_scorecard
    from benchmarks.dataset.runner import repair_all

    results = repair_all(members, asked, kept, tell=tell, stop=stop)
    return repair_scorecard(wanted.split, members, results, whole=not wanted.only)


def _others(
    wanted: Wanted, members: Members, asked: Asked, kept: Path, tell: Tell, stop: Stop
) -> Scorecard:
    from benchmarks.dataset.asked import OWN_MINUTES
    from benchmarks.dataset.others import measure_others

    if any(training.foreign is not None for training in members):
        raise InputError("Other tools are attached to programs that are kept here alone.")
    minutes = asked.minutes or OWN_MINUTES
    return measure_others(
        members,
        wanted.split,
        kept,
        jobs=asked.jobs,
        minutes=minutes,
        tell=tell,
        stop=stop,
    )


def _list_splits() -> ExitCode:
    rows = []
    for split in splits().values():
        members = trainings_of(split)
        sound = sum(training.sound for training in members)
        rows.append(
            (
                split.name,
                str(len(members) - sound),
                str(sound),
                split.role,
                split.results,
            )
        )
    columns = ("split", "faulty", "sound", "what it is", "published as")
    verdict = f"trainings: {len(rows)} splits; run one: python -m benchmarks trainings --split NAME"
    table = Table("Splits", columns, tuple(rows))
    show(Document("bench-splits", "Trainings", verdict, (table,)), "full")
    return ExitCode.OK


def _lock_new() -> ExitCode:
    from benchmarks.dataset.lock import add_new, read_lock
    from benchmarks.dataset.problems import problems

    locked = read_lock().splits
    new = [split for split in splits().values() if split.name not in locked]
    wrong = [sentence for split in new for one in trainings_of(split) for sentence in problems(one)]
    for sentence in wrong:
        click.echo(sentence)
    if wrong:
        return ExitCode.FOUND
    added = add_new()
    click.echo(f"trainings: {len(added)} locked{': ' if added else ''}{', '.join(added)}")
    return ExitCode.OK
