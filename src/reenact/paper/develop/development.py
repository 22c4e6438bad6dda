"""What came of the development: every round with its commit, and the best version, never simply the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reenact.codegen.project import Project
from reenact.journal import Scope
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.develop.checks import Stage
from reenact.paper.develop.history import History
from reenact.paper.develop.version import Version

PARTIAL = (Stage.DATA, Stage.METHOD)
"""Stages after which there is no experiment yet."""


@dataclass(frozen=True, slots=True)
class Round:
    """One version of the code, and what was found of it."""

    number: int
    stage: Stage
    identity: str
    """Of the project."""
    runs: bool
    """Whether it passed every check of its stage."""
    passed: tuple[str, ...]
    """Ids of criteria; all three empty when the version was not verified."""
    failed: tuple[str, ...]
    unknown: tuple[str, ...]
    turned: tuple[str, ...]
    """Criteria that hold now and did not in the best version before."""
    problems: tuple[str, ...]
    edits: int
    """Lines changed against the version it was made from."""
    tries: int = 0
    """Attempts to fix it."""
    commit: str = ""
    """In the history of the output folder; empty where there is none."""


@dataclass(frozen=True)
class Development:
    """The answer."""

    project: Project
    """The best version seen."""
    rounds: tuple[Round, ...]
    best: int
    """Number of the round that it is of."""
    runs: bool
    """Whether it passes the sampled tests and the dry run."""
    judged: tuple[Judged, ...]
    """What was found of each criterion in it."""
    notes: tuple[str, ...]
    """Decisions, what was assumed, what is open or missing, what could not be done."""
    stand_in: str = ""
    """What stands in for data that could not be had; empty when the data are the real ones."""


@dataclass(frozen=True)
class LoggedRound:
    """A version, and what was found of it."""

    version: Version
    judged: tuple[Judged, ...]
    round: Round

    @property
    def all_hold(self) -> bool:
        """Whether nothing is left to revise."""
        return self.version.runs and len(self.round.passed) == len(self.judged)


class RoundLog:
    """Grows by one entry a round."""

    def __init__(self, history: History, run: Scope, criteria: Sequence[Criterion]) -> None:
        self.entries: list[LoggedRound] = []
        self.notes: list[str] = []
        self._history, self._run = history, run
        self._weights = {one.id: one.weight for one in criteria}
        self._best: LoggedRound | None = None

    @property
    def best(self) -> LoggedRound:
        """The best whole version: running counts first, then weighted passes; the earlier of equals."""
        assert self._best is not None, "there is no whole version yet"
        return self._best

    def enter(
        self, version: Version, judged: tuple[Judged, ...] = (), *, made_from: Project | None = None
    ) -> LoggedRound:
        """Write a version down and commit it; made from the one before unless another is named."""
        before = self.entries[-1].version.project if self.entries else Project()
        passed = _of(judged, Value.PASS)
        held = self._best.round.passed if self._best is not None else ()
        made = Round(
            number=len(self.entries), stage=version.stage, identity=version.project.identity,
            runs=version.runs, passed=passed, failed=_of(judged, Value.FAIL),
            unknown=_of(judged, Value.UNKNOWN), turned=tuple(name for name in passed if name not in held),
            problems=tuple(str(one) for one in version.found.problems),
            edits=version.project.lines_changed(made_from or before), tries=version.tries,
        )  # fmt: skip
        scope = self._run.under("round", attempt=made.number)
        commit = self._history.keep(version.project, _message(made), scope)
        entry = LoggedRound(version, judged, replace(made, commit=commit))
        self.entries.append(entry)
        if version.stage not in PARTIAL and self._is_better(entry):
            self._best = entry
        return entry

    def closed(self) -> Development:
        """The best version, written last when it is not the last."""
        best = self.best
        if best is not self.entries[-1]:
            message = f"Keep round {best.round.number}, the best version"
            self._history.keep(best.version.project, message, self._run.under("kept"))
        found, state = best.version.found, best.version.state
        proposed = (one for entry in self.entries for one in entry.version.found.proposed)
        return Development(
            project=best.version.project,
            rounds=tuple(entry.round for entry in self.entries),
            best=best.round.number,
            runs=best.version.runs,
            judged=best.judged,
            notes=(
                *(f"Decided: {one}" for one in state.decisions),
                *(f"Assumed: {one}" for one in state.assumed),
                *(f"Open: {one}" for one in state.questions),
                *(f"Needs a package that is not installed: {one}" for one in dict.fromkeys(proposed)),
                *found.notes,
                *self.notes,
                *self._history.notes,
            ),
            stand_in=found.stand_in,
        )

    def _is_better(self, entry: LoggedRound) -> bool:
        if self._best is None:
            return True
        old, new = self._score(self._best), self._score(entry)
        # Of two equals the one that was read by a reviewer is the better.
        return new > old or (new == old and entry.version.stage is Stage.REFACTOR)

    def _score(self, entry: LoggedRound) -> tuple[bool, int]:
        return entry.version.runs, sum(self._weights.get(name, 1) for name in entry.round.passed)


def _of(judged: Sequence[Judged], value: Value) -> tuple[str, ...]:
    return tuple(one.criterion for one in judged if one.value is value)


def _message(made: Round) -> str:
    """What a reader of the history wants to know: the criteria that this round turned."""
    turned = f": turns {in_short(made.turned)}" if made.turned else ""
    lines = [f"Round {made.number}, {made.stage}{turned}", ""]
    if made.passed or made.failed or made.unknown:
        counts = f"{len(made.passed)} criteria hold, {len(made.failed)} do not"
        lines.append(f"{counts}, {len(made.unknown)} cannot be judged.")
    lines.append("It runs." if made.runs else f"It does not run: {made.problems[0][:300]}")
    return "\n".join(lines)


def in_short(ids: Sequence[str]) -> str:
    """Ids of criteria in words: three and more in a row as `F3-F9`."""
    rows: list[list[str]] = []
    for name in ids:
        if rows and _number(name) == _number(rows[-1][-1]) + 1:
            rows[-1].append(name)
        else:
            rows.append([name])
    return ", ".join(f"{row[0]}-{row[-1]}" if len(row) > 2 else ", ".join(row) for row in rows)


def _number(name: str) -> int:
    digits = name.lstrip("F")
    return int(digits) if digits.isdecimal() else -2
