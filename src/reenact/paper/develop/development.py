"""What came of the development: every round with its commit, and the best version, never simply the last.

The commits are in the output folder: under our name, without hooks, in a history of its own. Where git is
missing, or the folder has somebody else's history, the files are written all the same and a note states that
there is no history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.codegen.project import Project
from reenact.errors import InputError, MissingPart
from reenact.journal import Kind, Scope
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.develop.checks import Stage
from reenact.paper.develop.version import Version
from reenact.sandbox.repository import run_git

PARTIAL = (Stage.DATA, Stage.METHOD)
"""Stages after which there is no experiment yet."""
WALL_S = 60.0
MARK = "reenact-history"
"""A file in `.git` that marks the history as ours."""
_AUTHOR = ("-c", "user.name=reenact", "-c", "user.email=reenact@localhost", "-c", "commit.gpgSign=false")


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


class History:
    """The versions of one output folder."""

    def __init__(self, out: Path | None) -> None:
        # git is started in the folder: a name relative to ours would be looked for below it.
        self.out = out.absolute() if out is not None else None
        self.notes: list[str] = []
        self._last = Project()

    def keep(self, project: Project, message: str, scope: Scope) -> str:
        """Write a version and commit it; the commit, or nothing where there is no history."""
        if self.out is None:
            return ""
        new: dict[str, bytes | None] = {
            name: text.encode("utf-8", "replace") for name, text in project.files.items()
        }
        gone: dict[str, bytes | None] = {name: None for name in self._last.files if name not in new}
        if not self._last.files:
            self._check_free(new, scope)
        scope.edit("files", self.out, {**new, **gone})
        self._last = project
        commit = scope.step(
            "commit",
            lambda: commit_all(self.out, [*new, *gone], message),  # type: ignore[arg-type]
            kind=Kind.EDIT,
            inputs={"out": str(self.out.resolve()), "project": project.identity, "message": message},
            returns=str,
        )
        if commit.startswith("!"):
            self.notes = [commit.removeprefix("!")]
            return ""
        return commit

    def _check_free(self, new: Mapping[str, bytes | None], scope: Scope) -> None:
        """Nobody's files are written over: asked once a run, before its first version."""
        out = self.out
        assert out is not None

        def effect() -> bool:
            ours = (out / ".git" / MARK).is_file()
            taken = [out / name for name, data in new.items() if not ours and _differs(out / name, data)]
            if taken:
                raise InputError(
                    f"The output folder has files that are not reenact's own. Received: {taken[0]}.",
                    next_step="Name another folder with --out, or move these files away.",
                )
            return True

        scope.step("free", effect, kind=Kind.EDIT, inputs={"out": str(out.resolve())}, returns=bool)


def commit_all(out: Path, names: list[str], message: str) -> str:
    """The commit with these files as they are now; `!` and a sentence where there can be none.

    A commit that an interruption left behind is found again, not made twice.
    """
    git = out / ".git"
    if git.exists() and not (git / MARK).is_file():
        return "!The output folder has a git history that is not ours: no commits were made in it."
    try:
        if not git.exists():
            run_git(git, out, ("init", "--quiet", "--template="), wall_s=WALL_S)
            (git / MARK).write_text("Versions of a reproduction, one commit a round.\n", encoding="utf-8")
        run_git(git, out, ("add", "--all", "--", *sorted(names)), wall_s=WALL_S)
        if _is_last(git, out, message):
            return _head(git, out)
        run_git(git, out, (*_AUTHOR, "commit", "--quiet", "--allow-empty", "-m", message), wall_s=WALL_S)
        return _head(git, out)
    except MissingPart:
        return "!git is not installed: the folder holds the project without the history of its rounds."


def _is_last(git: Path, out: Path, message: str) -> bool:
    """Whether the last commit has this message and these files."""
    if not run_git(git, out, ("for-each-ref", "--count=1"), wall_s=WALL_S):
        return False
    last = run_git(git, out, ("log", "-1", "--format=%B"), wall_s=WALL_S).decode(errors="replace").strip()
    changed = run_git(git, out, ("diff", "--cached", "--name-only", "HEAD"), wall_s=WALL_S)
    return last == message.strip() and not changed.strip()


def _head(git: Path, out: Path) -> str:
    return run_git(git, out, ("rev-parse", "HEAD"), wall_s=WALL_S).decode().strip()


def _differs(path: Path, data: bytes | None) -> bool:
    return path.exists() and (not path.is_file() or path.read_bytes() != data)
