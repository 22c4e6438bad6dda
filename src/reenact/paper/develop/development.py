"""What came of the development: every round with its commit, and the best version, never simply the
last.

The commits are in the output folder: under our name, without hooks, in a history of its own, which
is signed with the user's key. Where git is missing, or the folder has somebody else's history, the
files are written all the same and a note states that there is no history. Settings, attributes and
hooks of that `.git` are obeyed in neither case.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from reenact.codegen.project import Project
from reenact.errors import InputError, MissingPart
from reenact.files import read_text
from reenact.journal import Kind, Scope
from reenact.journal.signing import known_signer, user_signer
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.develop.checks import Stage
from reenact.paper.develop.questions import Version
from reenact.paper.verify.mechanical import beside_code, read_project
from reenact.sandbox.commit import CommittedFile, commit_files
from reenact.sandbox.git_folder import is_folder, of_untrusted
from reenact.sandbox.repository import run_git

PARTIAL = (Stage.DATA, Stage.METHOD)
"""Stages after which there is no experiment yet."""
WALL_S = 60.0
MARK = "reenact-history"
"""A file in `.git` that marks the history as ours, by a hash with the key of this user's
journals.
"""
SIGNED = "history of a reproduction"
"""What sort of content the hash is of: the path of the folder."""
MOST_MARK = 4096


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
    """The code of an experiment, and how it came about."""

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


class RoundLog:
    """Grows by one version a round."""

    def __init__(
        self,
        history: History,
        run: Scope,
        criteria: Sequence[Criterion],
    ) -> None:
        self.versions: list[Version] = []
        self.rounds: list[Round] = []
        self.notes: list[str] = []
        self._history = history
        self._run = run
        self._weights = {one.id: one.weight for one in criteria}
        self._best: int | None = None

    @property
    def best(self) -> Version:
        """The best whole version: running counts first, then weighted passes; the earlier of
        equals.
        """
        assert self._best is not None, "there is no whole version yet"
        return self.versions[self._best]

    def enter(
        self,
        version: Version,
        *,
        made_from: Project | None = None,
        keep: bool = False,
    ) -> None:
        """Write a version down and commit it; made from the one before unless another is named.
        `keep`: it takes the place of the best one, whatever it scores.
        """
        number = len(self.rounds)
        project = version.project
        before = self.versions[-1].project if self.versions else Project()
        passed = version.criteria(Value.PASS)
        held = self.rounds[self._best].passed if self._best is not None else ()
        made = Round(
            number=number,
            stage=version.stage,
            identity=project.identity,
            runs=version.runs,
            passed=passed,
            failed=version.criteria(Value.FAIL),
            unknown=version.criteria(Value.UNKNOWN),
            turned=tuple(name for name in passed if name not in held),
            problems=tuple(map(str, version.found.problems)),
            edits=project.lines_changed(made_from or before),
            tries=version.tries,
        )
        commit = self._history.keep(
            project, _message(made), self._run.under("round", attempt=number)
        )
        self.versions.append(version)
        self.rounds.append(replace(made, commit=commit))
        if version.stage in PARTIAL:
            return
        old = self._score(self.best) if self._best is not None else (False, -1)
        new = self._score(version)
        # Of two equals the one that was read by a reviewer is the better.
        if keep or new > old or (new == old and version.stage is Stage.REFACTOR):
            self._best = number

    def closed(self) -> Development:
        """The best version, written last when it is not the last."""
        best = self.best
        number = self._best or 0
        if best is not self.versions[-1]:
            message = f"Keep round {number}, the best version"
            self._history.keep(
                best.project,
                message,
                self._run.under("kept"),
            )
        return self._developed(best, number)

    def so_far(self) -> Development:
        """What there is where the development is not over: the best whole version, else the
        last one.
        """
        number = max(0, len(self.versions) - 1) if self._best is None else self._best
        return self._developed(
            self.versions[number] if self.versions else Version(),
            number,
        )

    def _developed(self, best: Version, number: int) -> Development:
        found = best.found
        state = best.state
        code = read_project(best.project)
        proposed = (one for version in self.versions for one in version.found.proposed)
        notes = [f"Decided: {beside_code(one, code)}" for one in state.decisions]
        for one in state.assumed:
            notes.append(f"Assumed: {beside_code(one, code)}")
        notes += [f"Open: {one}" for one in state.questions]
        notes += [
            f"Needs a package that is not installed: {one}" for one in dict.fromkeys(proposed)
        ]
        notes += [f"Took too long, so a cheaper design was asked for: {one}" for one in state.slow]
        notes += [
            *found.notes,
            *self.notes,
            *self._history.notes,
        ]
        rounds = tuple(self.rounds)
        return Development(
            best.project,
            rounds=rounds,
            best=number,
            runs=best.runs,
            judged=best.judged,
            notes=tuple(notes),
            stand_in=found.stand_in,
        )

    def _score(self, version: Version) -> tuple[bool, int]:
        return version.runs, sum(
            self._weights.get(name, 1) for name in version.criteria(Value.PASS)
        )


def _message(made: Round) -> str:
    """What a reader of the history wants to know: the criteria that this round turned."""
    turned = ""
    if made.turned:
        turned = f": turns {in_short(made.turned)}"
    held = len(made.passed)
    failed = len(made.failed)
    unknown = len(made.unknown)
    counts = f"{held} criteria hold, {failed} do not, {unknown} cannot be judged.\n"
    judged = counts if held or failed or unknown else ""
    ran = "It runs."
    if not made.runs:
        ran = f"It does not run: {made.problems[0][:300]}"
    return f"Round {made.number}, {made.stage}{turned}\n\n{judged}{ran}"


def in_short(ids: Sequence[str]) -> str:
    """Ids of criteria in words: three and more in a row as `F3-F9`."""
    rows: list[list[str]] = []
    for name in ids:
        if rows and name == re.sub(
            r"\d+",
            lambda found: str(int(found[0]) + 1),
            rows[-1][-1],
        ):
            rows[-1].append(name)
        else:
            rows.append([name])
    return ", ".join(f"{row[0]}-{row[-1]}" if len(row) > 2 else ", ".join(row) for row in rows)


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
        new = {name: text.encode("utf-8", "replace") for name, text in project.files.items()}
        written: dict[str, bytes | None] = {
            **dict.fromkeys(self._last.files),
            **new,
        }
        if not self._last.files:
            place = {"out": str(self.out.resolve())}
            check = partial(_check_free, self.out, new)
            scope.step(
                "free",
                check,
                kind=Kind.EDIT,
                inputs=place,
                returns=bool,
            )
        scope.edit("files", self.out, written)
        self._last = project
        inputs = {
            "out": str(self.out.resolve()),
            "project": project.identity,
            "message": message,
        }
        commit_now = partial(commit_all, self.out, [*written], message)
        commit = scope.step(
            "commit",
            commit_now,
            kind=Kind.EDIT,
            inputs=inputs,
            returns=str,
        )
        if commit.startswith("!"):
            self.notes = [commit.removeprefix("!")]
            return ""
        return commit


def is_foreign(out: Path, name: str) -> bool:
    """Whether the folder has such a file and it is not one of a reproduction."""
    return (out / name).exists() and not is_ours(out)


def is_ours(out: Path) -> bool:
    """Whether this user's reenact made the history of the folder, at this place.

    A folder that came from elsewhere can bring a `.git` with any file in it, but no hash of the
    user's key.
    """
    if not is_folder(out / ".git"):
        return False
    try:
        stated = read_text(out / ".git" / MARK, MOST_MARK)
    except (OSError, UnicodeDecodeError):
        return False
    return known_signer().holds(
        stated.strip().rpartition("\n")[2],
        SIGNED,
        str(out.resolve()),
    )


def _check_free(out: Path, new: Mapping[str, bytes]) -> bool:
    """No one's files are written over: asked once a run, before its first version."""
    if is_ours(out):
        return True
    there = {out / name: data for name, data in new.items() if (out / name).exists()}
    if taken := [
        path for path, data in there.items() if not path.is_file() or path.read_bytes() != data
    ]:
        why = f"The output folder has files that are not reenact's own. Received: {taken[0]}."
        raise InputError(why, next_step="Name another folder with --out, or move these files away.")
    return True


def commit_all(out: Path, names: list[str], message: str) -> str:
    """The commit with these files as they are now; `!` and a sentence where there can be none. A
    commit that an interruption left behind is found again, not made twice.
    """
    git = out / ".git"
    if os.path.lexists(git) and not is_ours(out):
        return "!The output folder has a git history that is not ours: no commits were made in it."
    try:
        if not os.path.lexists(git):
            _start_history(out)
        entries = {name: _entry(out / name) for name in names}
        return commit_files(of_untrusted(out), entries, message)
    except MissingPart:
        return (
            "!git is not installed: the folder holds the project without the history of its rounds."
        )


def _start_history(out: Path) -> None:
    """A history without a commit, with the mark that it is ours."""
    git = out / ".git"
    run_git(git, out, ("init", "--quiet", "--template="), wall_s=WALL_S)
    mac = user_signer().sign(
        SIGNED,
        str(out.resolve()),
    )
    (git / MARK).write_text(
        f"Versions of a reproduction, one commit a round.\n{mac}\n", encoding="utf-8"
    )


def _entry(path: Path) -> CommittedFile | None:
    """A file as it is committed; none where it was taken away."""
    if path.is_file():
        return CommittedFile("100644", path.read_bytes())
    return None
