"""Kills diagnose, repair, bug and paper at random moments, starts them again, and compares the results.

    .venv/bin/python scripts/kills.py --kills 200 --seed 0 [--only CASE] [--state FILE]

Each case first runs undisturbed: that is its reference. Then it is started in a fresh folder, something of it
is ended by SIGKILL at a random moment (its whole process group, the command alone, one process that it
started, one process in a sandbox), and the same command is started again, until it ends by itself or was
killed several times and is left to end. Its result must equal the reference, its journal must be sound,
nothing that was done may be done twice, and no process or sandbox folder may be left. A command that lost a
process in a sandbox must come to its result by itself; one that lost another process may end with an error
sentence and exit code 2, and the same command must then come to the result.

Small cases, recorded model answers, no network. What happened is kept in FILE, a line an event: started again
after an interruption the script continues. Exit code 0: all equal, 1: not, 3: a reference was not possible.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from kill_runs import BOX, CASES, CHILD, GRACE_S, Case, Outcome, Place, Started, end_all

from reenact.journal import JournalReader, Status

STATE = Path(__file__).parents[1] / "build" / "kills" / "state.jsonl"
MOST_KILLS = 5
"""So often is one run killed before it is left to end."""
LONGEST_S = 1800.0
"""A run that takes longer does not end."""
OK, DIFFERENT, NOT_POSSIBLE = 0, 1, 3

Say = Callable[[str], None]


class NotPossible(Exception):
    """The reference run of a case did not end as it should, so there is nothing to compare with."""


def moment(seed: int, case: str, number: int, reference_s: float) -> float:
    """When the next kill comes, in seconds after the start: early, late or anywhere."""
    chance = random.Random(f"{seed} {case} {number}")  # noqa: S311
    low, high = chance.choice([(0.0, 0.2), (0.0, 1.0), (0.0, 1.0), (0.6, 1.0)])
    return chance.uniform(low, high) * reference_s


def kind_of(seed: int, case: Case, number: int) -> str:
    """What the next kill meets."""
    return random.Random(f"{seed} {case.name} {number} kind").choice(case.kinds)  # noqa: S311


@dataclass
class State:
    """What happened so far, a line of JSON an event. A line torn by a kill counts as not
    written.
    """

    file: Path
    events: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def open(cls, file: Path) -> State:
        state = cls(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text(encoding="utf-8").split("\n") if file.exists() else []
        state.events = [json.loads(line) for line in lines[:-1]]
        if lines and lines[-1]:
            file.write_text("".join(line + "\n" for line in lines[:-1]), encoding="utf-8")
        return state

    def add(self, **event: Any) -> None:
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.events.append(event)

    def of(self, case: str, event: str) -> list[dict[str, Any]]:
        return [one for one in self.events if one.get("case") == case and one["event"] == event]


@dataclass(frozen=True)
class Row:
    """What came of one case."""

    case: str
    kills: int
    ends: int
    verdict: str
    problems: tuple[str, ...]
    kinds: Mapping[str, int] = field(default_factory=dict)
    """How many kills met what."""


@dataclass
class Series:
    """All kills of one case: continues where the state file says that it was stopped."""

    case: Case
    state: State
    kills: int
    seed: int
    say: Say
    most: int = MOST_KILLS

    def reference(self) -> dict[str, Any]:
        """The undisturbed run: done once."""
        known = self.state.of(self.case.name, "reference")
        if known:
            return known[0]
        place = self._place("reference", fresh=True)
        run = Started(self.case, place)
        try:
            ended = run.ended_within(LONGEST_S)
        finally:
            seconds = run.seconds
            left = end_all(place, [], 1.0)
        outcome = run.outcome(self.case) if ended else {"code": None, "verdict": "did not end"}
        if outcome["code"] != self.case.code:
            raise NotPossible(
                f"The reference run of {self.case.name} ended with code={outcome['code']}, expected"
                f" {self.case.code}: {outcome.get('printed') or outcome['verdict']}"
            )
        problems = self._unsound(place, kills=0, left=left)
        self.state.add(
            event="reference",
            case=self.case.name,
            seconds=seconds,
            outcome=outcome,
            problems=problems,
        )
        shutil.rmtree(place.folder)
        return self.state.events[-1]

    def run(self) -> Row:
        """Kill until there were enough, and let every run come to its end."""
        reference = self.reference()
        while True:
            done = len(self.state.of(self.case.name, "kill"))
            open_kills = self._open_kills()
            if done >= self.kills and not open_kills:
                return self._row(reference)
            self._execute(reference, done, len(open_kills))

    def _execute(self, reference: Mapping[str, Any], done: int, open_kills: int) -> None:
        """Start the command once; kill it, or let it end and compare."""
        number = len(self.state.of(self.case.name, "end"))
        place = self._place(str(number), fresh=open_kills == 0)
        last = done >= self.kills or open_kills >= self.most
        length = self._length(reference)
        at = LONGEST_S if last else moment(self.seed, self.case.name, done + number, length)
        kind = kind_of(self.seed, self.case, done + number)
        run = Started(self.case, place)
        ended, left = False, []
        try:
            ended = run.ended_within(at)
            if not ended and not last and kind in (CHILD, BOX):
                chance = random.Random(f"{self.seed} {self.case.name} {done + number} victim")  # noqa: S311
                seconds, met = run.seconds, run.kill_one(kind, chance)
                ended = run.ended_within(LONGEST_S)
                if met:
                    self._killed(kind, number, done, seconds, length, [], met)
                    open_kills += 1
                    last = True
                    if kind == CHILD and run.failed_with_a_sentence:
                        # The same command is started again, and must then come to the result.
                        return
        finally:
            seconds = run.seconds
            left = end_all(place, [], GRACE_S) if ended else run.kill(kind)
        # It may have come to its end by itself just before the kill.
        ended = not run.was_killed
        if ended or last:
            outcome = run.outcome(self.case) if ended else {"code": None, "verdict": "did not end"}
            self._compare(place, reference["outcome"], outcome, open_kills, left, seconds)
            return
        self._killed(kind, number, done, seconds, length, left, "")

    def _killed(
        self,
        kind: str,
        series: int,
        done: int,
        at: float,
        length: float,
        left: list[str],
        met: str,
    ) -> None:
        """Write down a kill, and say it."""
        self.state.add(
            event="kill",
            case=self.case.name,
            kind=kind,
            series=series,
            at=at,
            left=left,
        )
        what = f"{kind} ({met})" if met else kind
        self.say(
            (
                f"{self.case.name} {done + 1}/{self.kills} killed {what} at {at:.1f} s of "
                f"{length:.1f} s"
            )
            + (f" -> left behind: {'; '.join(left)}" if left else " -> nothing left behind")
        )

    def _compare(
        self,
        place: Place,
        wanted: Outcome,
        outcome: Outcome,
        kills: int,
        left: list[str],
        seconds: float,
    ) -> None:
        problems = [
            f"{name} is {outcome.get(name)!r}, in the reference {wanted.get(name)!r}"
            for name in sorted({*wanted, *outcome})
            if wanted.get(name) != outcome.get(name)
        ]
        problems += self._unsound(place, kills, left)
        self.state.add(
            event="end",
            case=self.case.name,
            kills=kills,
            seconds=seconds,
            problems=problems,
            verdict=outcome["verdict"],
        )
        self.say(
            f"{self.case.name} ended after {kills} kill{'s' * (kills != 1)} and {seconds:.1f} s -> "
            + ("; ".join(problems) if problems else f"as the reference: {outcome['verdict']}")
        )
        if problems:
            self.say(f"{self.case.name} kept for a look: {place.folder}")
        else:
            shutil.rmtree(place.folder)

    def _unsound(self, place: Place, kills: int, left: list[str]) -> list[str]:
        """What is wrong with the journal, and what was left, after a run that ended."""
        problems = [f"process left: {one}" for one in left]
        problems += [f"sandbox folder left: {name}" for name in place.boxes()]
        check = subprocess.run(
            [sys.executable, "-P", "-m", "reenact", "runs", "check"],
            cwd=place.work,
            env=place.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if check.returncode != 0:
            problems.append(f"runs check: {check.stdout.strip()} {check.stderr.strip()}")
        return problems + list(self._repeated(place, kills))

    def _repeated(self, place: Place, kills: int) -> Iterator[str]:
        """No run was given up; an effect is done again only if a kill may have met it in flight."""
        if not (place.runs / "journal.db").exists():
            yield "no journal was written"
            return
        with JournalReader.open(place.runs) as shelf:
            runs = [run for run in shelf.runs() if run.pipeline == self.case.name]
            again = [step.tries - 1 for run in runs for step in shelf.steps(run)]
        # A kill between the end of the run and that of the process is followed by a new run.
        given_up = [run.id for run in runs if run.status is not Status.FINISHED]
        if given_up or len(runs) > kills + 1:
            yield f"{len(runs)} runs of {self.case.name} in the journal, not finished: {given_up}"
        if max(again, default=0) > kills or sum(again) > kills * self.case.at_once:
            yield f"{sum(again)} steps done again after {kills} kills"

    def _length(self, reference: Mapping[str, Any]) -> float:
        """Seconds of the fastest undisturbed run: a machine may have become less busy since the
        reference.
        """
        ends = self.state.of(self.case.name, "end")
        return min(float(one["seconds"]) for one in (reference, *ends) if not one.get("kills"))

    def _open_kills(self) -> list[dict[str, Any]]:
        """Kills of the run that has not come to its end yet."""
        number = len(self.state.of(self.case.name, "end"))
        return [one for one in self.state.of(self.case.name, "kill") if one["series"] == number]

    def _place(self, name: str, *, fresh: bool) -> Place:
        place = Place((self.state.file.parent / f"{self.case.name}-{name}").absolute())
        # What an interrupted script left running would hold the run.
        end_all(place, [], 0.0)
        if fresh and place.folder.exists():
            shutil.rmtree(place.folder)
        place.prepare(self.case)
        return place

    def _row(self, reference: Mapping[str, Any]) -> Row:
        kills, ends = (
            self.state.of(self.case.name, "kill"),
            self.state.of(self.case.name, "end"),
        )
        problems = [text for one in (reference, *ends) for text in one["problems"]]
        problems += [f"left behind after a kill: {text}" for one in kills for text in one["left"]]
        kinds = Counter(str(one.get("kind", "group")) for one in kills)
        verdict = reference["outcome"]["verdict"]
        return Row(self.case.name, len(kills), len(ends), verdict, tuple(problems), dict(kinds))


def minutes(cases: Mapping[str, tuple[int, float]], most: int = MOST_KILLS) -> float:
    """What so many kills of runs of so many seconds take: half a run a kill, and the rest of
    every run.
    """
    return (
        sum(
            count * (0.55 * length + 1) + (count / most + 1) * length
            for count, length in cases.values()
        )
        / 60
    )


def table(rows: list[Row]) -> Iterator[str]:
    yield f"{'command':10} {'kills':>5} {'completed':>9}  {'equal':5}  verdict"
    for row in rows:
        equal = "no" if row.problems else "yes"
        yield f"{row.case:10} {row.kills:5} {row.ends:9}  {equal:5}  {row.verdict}"
        yield from (f"    {problem}" for problem in row.problems)
    total = Counter[str]()
    for row in rows:
        total.update(row.kinds)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(total.items()))
    bad = sum(bool(row.problems) for row in rows)
    ends = sum(row.ends for row in rows)
    yield (
        f"{sum(row.kills for row in rows)} kills ({kinds}), {ends} runs completed:"
        + (f" {bad} commands differ from their reference." if bad else " all as the reference.")
    )


@click.command()
@click.option(
    "--kills",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Kills in all.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the moments.")
@click.option("--only", multiple=True, type=click.Choice(list(CASES)), help="Only this command.")
@click.option(
    "--state",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=STATE,
    help="Where to continue; default: build/kills/state.jsonl.",
)
def main(kills: int, seed: int, only: tuple[str, ...], file: Path) -> None:
    """Kill diagnose, repair, bug and paper at random moments; compare their results with
    undisturbed runs.
    """
    names = [name for name in CASES if not only or name in only]
    counts = {
        name: kills // len(names) + (at < kills % len(names)) for at, name in enumerate(names)
    }
    state = State.open(file)
    settings = {"event": "begin", "kills": kills, "seed": seed}
    if not state.events:
        state.add(**settings)
    elif state.events[0] != settings:
        known = state.events[0]
        raise click.UsageError(
            f"{file} belongs to --kills {known['kills']} --seed {known['seed']}; remove it or "
            "give another --state."
        )
    series = [Series(CASES[name], state, counts[name], seed, click.echo) for name in names]
    guess = minutes({name: (counts[name], CASES[name].seconds) for name in names})
    click.echo(
        f"{kills} kills: {guess:.0f} minutes by a first guess. Undisturbed runs come first and "
        f"tell better."
    )
    try:
        lengths = {one.case.name: (one.kills, float(one.reference()["seconds"])) for one in series}
    except NotPossible as error:
        click.echo(str(error), err=True)
        sys.exit(NOT_POSSIBLE)
    click.echo(
        f"By the undisturbed runs: about {minutes(lengths):.0f} minutes in all, state in {file}."
    )
    rows = [one.run() for one in series]
    for line in table(rows):
        click.echo(line)
    sys.exit(DIFFERENT if any(row.problems for row in rows) else OK)


if __name__ == "__main__":
    main()
