"""`python -m benchmarks fixes`: of the findings on faulty programs, how many have a fix that ran.

Only splits that were opened are looked at. Each program is diagnosed as a user would, quickly; one that was
diagnosed by the same reenact already counts as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.command import conduct, out_folder
from benchmarks.dataset.asked import Asked
from benchmarks.dataset.command import checkouts_option
from benchmarks.dataset.lock import require_locked
from benchmarks.dataset.result import NamedFault, TrainingDiagnosis
from benchmarks.dataset.runner import diagnose_all
from benchmarks.dataset.splits import Split, split_named, splits, trainings_of
from benchmarks.dataset.training import Training
from benchmarks.scorecard import Figure, Goal, Scorecard
from reenact.cli.options import Count
from reenact.errors import InputError
from reenact.faults.fix import FixTried
from reenact.settings import resolve
from reenact.types import ExitCode, Stop, Table, Tell

ATTACHED = 0.8
"""Share of the findings that should have a fix."""
COLUMNS = (
    "split",
    "programs",
    "findings",
    "fix attached",
    "tried and silent",
    "not tried",
    "none does",
    "no edit",
)
RAN = frozenset(one.value for one in FixTried if one.ran)


@dataclass(frozen=True, slots=True)
class Fixed:
    """The findings of some programs, by what became of their fix."""

    programs: int
    findings: int
    attached: int
    silent: int
    dropped: int
    """An edit was suggested, and none of them does."""

    @classmethod
    def of(cls, results: Iterable[TrainingDiagnosis]) -> Fixed:
        """Counted over what could be diagnosed."""
        known = [one for one in results if not one.could_not_run]
        found = [finding for one in known for finding in one.findings]
        return cls(
            len(known),
            len(found),
            sum(bool(one.fix) for one in found),
            sum(one.fix in RAN for one in found),
            sum(not one.fix and bool(one.dropped) for one in found),
        )

    @property
    def cells(self) -> tuple[str, ...]:
        counted = (
            self.programs,
            self.findings,
            self.attached,
            self.silent,
            self.attached - self.silent,
            self.dropped,
            self.findings - self.attached - self.dropped,
        )
        return tuple(map(str, counted))


@click.command()
@click.option("--split", "names", multiple=True, help="Only this opened split; default: all.")
@click.option("--only", multiple=True, metavar="ID", help="Only this program; may be repeated.")
@click.option("--jobs", type=Count(1, 1024), default=1, show_default=True, help="Programs at once.")
@checkouts_option("--checkouts", required=False)
@out_folder
def fixes(
    names: tuple[str, ...],
    only: tuple[str, ...],
    jobs: int,
    checkouts: Path | None,
    out: Path | None,
) -> ExitCode:
    """Diagnose the faulty programs of the opened splits and count their fixes. Continues where it
    was stopped. Foreign programs take part where their checkouts are given.
    """
    foreign = checkouts is not None
    wanted = [(split, _faulty(split, only, foreign=foreign)) for split in opened(names)]
    wanted = [one for one in wanted if one[1]]
    for split, _ in wanted:
        require_locked(split)
    asked = Asked(jobs=jobs, checkouts=checkouts)
    kept = resolve().settings.runs_dir / "bench" / "trainings"
    return conduct(lambda tell, stop: _measured(wanted, asked, kept, tell, stop), out)


def opened(names: Sequence[str]) -> list[Split]:
    """The splits of these names, or all opened ones; a split that is held out is refused."""
    chosen = [split_named(name) for name in names] or [
        split for split in splits().values() if split.opened
    ]
    for split in chosen:
        if not split.opened:
            raise InputError(
                f"This split is held out, and a fix is not looked at in it. Received: {split.name}."
            )
    return chosen


def _faulty(split: Split, only: Sequence[str], *, foreign: bool) -> list[Training]:
    """Its faulty programs; those that are not kept here only where they are wanted."""
    return [
        one
        for one in trainings_of(split)
        if not one.sound and (foreign or one.foreign is None) and (not only or one.id in only)
    ]


def _measured(
    wanted: Sequence[tuple[Split, list[Training]]],
    asked: Asked,
    kept: Path,
    tell: Tell,
    stop: Stop,
) -> Scorecard:
    everything = [training for _, trainings in wanted for training in trainings]
    results = diagnose_all(everything, asked, kept, tell=tell, stop=stop)
    by_id = {one.training: one for one in results}
    return card([(split.name, [by_id[one.id] for one in own]) for split, own in wanted])


def card(results: Sequence[tuple[str, Sequence[TrainingDiagnosis]]]) -> Scorecard:
    """A row a split, each fix and each edit that was dropped."""
    everything = [one for _, own in results for one in own]
    whole = Fixed.of(everything)
    share = whole.attached / whole.findings if whole.findings else None
    rows = [(name, *Fixed.of(own).cells) for name, own in results]
    goal = Goal(
        "findings with a fix",
        f"at least {ATTACHED:g}",
        "-" if share is None else f"{whole.attached} of {whole.findings}",
        None if share is None else share >= ATTACHED,
    )
    attached = Figure("findings with a fix", share, part=whole.attached, whole=whole.findings)
    return Scorecard(
        "fixes",
        f"{attached:count} findings have a fix, {whole.silent} of these ran and are silent",
        (goal,),
        tables=(
            Table("Fixes by split", COLUMNS, (*rows, ("all", *whole.cells))),
            Table("Why an edit was dropped", ("times", "reason"), tuple(_reasons(everything))),
            Table("Each finding", ("program", "finding", "fix"), tuple(_each(everything))),
        ),
        measured={"fixes_attached": attached},
    )


def _reasons(results: Iterable[TrainingDiagnosis]) -> Iterable[tuple[str, str]]:
    counted = Counter(
        reason for one in results for finding in one.findings for reason in finding.dropped
    )
    for reason, times in counted.most_common():
        yield str(times), reason


def _each(results: Iterable[TrainingDiagnosis]) -> Iterable[tuple[str, str, str]]:
    for one in results:
        if one.could_not_run:
            yield one.training, "-", f"not diagnosed: {one.could_not_run}"
        for finding in one.findings:
            yield one.training, finding.codes[0], _words(finding)


def _words(finding: NamedFault) -> str:
    if finding.fix:
        return finding.fix
    return f"none: {finding.dropped[0]}" if finding.dropped else "no edit is suggested"
