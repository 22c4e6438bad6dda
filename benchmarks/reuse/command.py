"""`python -m benchmarks reuse`: the share of programs whose trainings a second identical command
reuses.

By marks, not by whole commands: trainings are reused exactly when two watched runs have the same
mark. Each program of examples/broken and fifty opened ones of `trainings` is watched twice in a
copy of its folder, once by this code and, with --before, by an older checkout. Stopped, it
continues where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.children import ROOT
from benchmarks.command import conduct, out_folder
from benchmarks.dataset.splits import published, trainings_of
from benchmarks.dataset.training import TRAININGS
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.several import several
from reenact.cli.options import Count
from reenact.errors import Stopped
from reenact.settings import resolve
from reenact.types import ExitCode, Stop, Tell

BROKEN = ROOT / "examples" / "broken"
MARKS = Path(__file__).with_name("marks.py")
NOT_MEASURED = "tenth"
"""The half that was not open when this benchmark was measured first."""
PROGRAMS = 50
LONGEST_S = 60.0
"""Of the programs of `trainings`, those that train for at most so long."""
WANTED = 0.9
"""Share of what an older checkout reuses."""
MINUTES_EACH = 0.7


@dataclass(frozen=True, slots=True)
class Case:
    """One program, and where it is started."""

    name: str
    folder: Path
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """The marks of a program's two watched runs."""

    name: str
    is_reused: bool
    cause: str
    """Why not; empty where it is."""


@click.command()
@click.option(
    "--before",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="An older checkout.",
)
@click.option(
    "--program",
    "wanted",
    multiple=True,
    help="Only programs whose name holds this word.",
)
@click.option("--jobs", type=Count(1, 1024), default=1, show_default=True, help="Programs at once.")
@click.option("--fresh", is_flag=True, help="Measure again what was measured.")
@out_folder
def reuse(
    before: Path | None,
    wanted: tuple[str, ...],
    jobs: int,
    fresh: bool,
    out: Path | None,
) -> ExitCode:
    """Watch each program twice and compare the marks that decide whether its trainings are
    reused.
    """
    cases = [case for case in all_cases() if any(word in case.name for word in wanted or ("",))]
    versions = {
        "after": ROOT,
        **({"before": before.resolve()} if before is not None else {}),
    }
    folder = (out or resolve().settings.runs_dir / "bench") / "reuse-cases"
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    minutes = MINUTES_EACH * len(cases) * len(versions) / jobs
    click.echo(
        f"{len(cases)} programs, two runs each by {len(versions)} checkouts: about {minutes:.0f} "
        f"minutes."
    )
    return conduct(
        lambda tell, stop: measure(cases, versions, folder, jobs=jobs, tell=tell, stop=stop),
        out,
    )


def all_cases() -> list[Case]:
    """The programs of examples/broken, and fifty opened ones in the order of the hashes of
    their ids.
    """
    broken = [Case(path.name, BROKEN, (path.name,)) for path in sorted(BROKEN.glob("*.py"))]
    short = [
        Case(f"{half}/{training.shown}", TRAININGS / training.id, training.words)
        for half, split in published("modern").items()
        if half != NOT_MEASURED
        for training in trainings_of(split)
        if training.seconds <= LONGEST_S and not training.needs
    ]
    ordered = sorted(short, key=lambda case: hashlib.sha256(case.name.encode()).hexdigest())
    return broken + ordered[:PROGRAMS]


@dataclass(frozen=True, slots=True)
class Watching:
    """Two watched runs of a program by one checkout, and the file of their marks."""

    case: Case
    checkout: Path
    kept: Path


def measure(
    cases: Sequence[Case],
    versions: Mapping[str, Path],
    folder: Path,
    *,
    jobs: int = 1,
    tell: Tell,
    stop: Stop,
) -> Scorecard:
    """Case by case; what was measured before is read."""
    folder.mkdir(parents=True, exist_ok=True)
    every = {
        (version, case.name): Watching(case, checkout, kept_in(folder, version, case))
        for case in cases
        for version, checkout in versions.items()
    }
    waiting = {
        f"{name}, {version}": one for (version, name), one in every.items() if not one.kept.exists()
    }
    with suppress(Stopped):
        for _ in several(waiting, watch_twice, what="bench reuse", jobs=jobs, tell=tell, stop=stop):
            pass
    marked: dict[str, list[Marked]] = {version: [] for version in versions}
    for (version, name), one in every.items():
        if one.kept.exists():
            marked[version].append(judged(name, json.loads(one.kept.read_text(encoding="utf-8"))))
    return card(marked, len(cases))


def kept_in(folder: Path, version: str, case: Case) -> Path:
    return folder / f"{version}-{case.name.replace('/', '-')}.json"


def watch_twice(one: Watching, _stop: Stop) -> None:
    """Leave the marks of two watched runs."""
    part = one.kept.with_suffix(".part")
    part.write_text(json.dumps(marks_of(one.case, one.checkout)), encoding="utf-8")
    part.replace(one.kept)


def marks_of(case: Case, checkout: Path) -> list[dict[str, Any]]:
    """What two watched runs in one copy of the program's folder leave, by the code of a
    checkout.
    """
    with tempfile.TemporaryDirectory(prefix="reenact-reuse-case-") as place:
        copy = Path(place) / "work"
        shutil.copytree(
            case.folder,
            copy,
            ignore=shutil.ignore_patterns("__pycache__", ".reenact", "truth.toml"),
        )
        finished = subprocess.run(  # noqa: S603 - our own file
            [sys.executable, str(MARKS), str(copy), *case.words],
            env={**os.environ, "PYTHONPATH": str(checkout / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
    runs: list[dict[str, Any]] = json.loads(finished.stdout) if finished.stdout else [{}, {}]
    return runs


def judged(name: str, runs: Sequence[Mapping[str, Any]]) -> Marked:
    """Whether the second would reuse what the first has trained, and why not."""
    first, second = runs
    if not first or not second:
        return Marked(name, is_reused=False, cause="the program could not be watched")
    if first["blind"] or second["blind"]:
        return Marked(name, is_reused=False, cause="; ".join(first["blind"] or second["blind"]))
    if first["mark"] == second["mark"]:
        return Marked(name, is_reused=True, cause="")
    before, after = first["files"], second["files"]
    other = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    return Marked(
        name,
        is_reused=False,
        cause=f"differs: {', '.join(other[:5])}" if other else "surroundings differ",
    )


def card(marked: Mapping[str, Sequence[Marked]], programs: int) -> Scorecard:
    """The share before and after, and a cause for each program that lost its reuse."""
    after, before = marked["after"], {one.name: one for one in marked.get("before", ())}
    reused = sum(one.is_reused for one in after)
    both = [one for one in after if one.name in before]
    now, then = (
        sum(one.is_reused for one in both),
        sum(before[one.name].is_reused for one in both),
    )
    ratio = now / then if then else None
    goal = Goal(
        "programs reused, of what the older checkout reuses",
        f"at least {WANTED:g}",
        "-" if ratio is None else f"{ratio:.2f} ({now} and {then} of {len(both)})",
        None if ratio is None else ratio >= WANTED,
    )
    rows = tuple(
        (
            one.name,
            "yes" if one.is_reused else "no",
            _before(before.get(one.name)),
            one.cause,
        )
        for one in after
    )
    table = Table("Programs", ("program", "reused", "before", "cause"), rows)
    measured = {
        "reused": Figure("programs whose trainings are reused", None, part=reused, whole=len(after))
    }
    if before:
        measured["before"] = Figure(
            "the same by the older checkout", None, part=then, whole=len(both)
        )
    shown = f"{reused} of {len(after)} reused" + (
        f", before {then} of {len(both)}" if before else ""
    )
    if len(after) < programs:
        shown += f"; {programs - len(after)} not measured yet"
    return Scorecard(
        "reuse",
        shown,
        (goal,),
        (table,),
        [list(row) for row in rows],
        measured=measured,
    )


def _before(marked: Marked | None) -> str:
    if marked is None:
        return "-"
    return "yes" if marked.is_reused else f"no: {marked.cause}"
