"""A commit a round in the output folder: under our name, without hooks, in a history of its own.

Where git is missing, or the folder has somebody else's history, the files are written all the same and a note
states that there is no history.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reenact.codegen.project import Project
from reenact.errors import InputError, MissingPart
from reenact.journal import Kind, Scope
from reenact.sandbox.repository import run_git

WALL_S = 60.0
MARK = "reenact-history"
"""A file in `.git` that marks the history as ours."""
_AUTHOR = ("-c", "user.name=reenact", "-c", "user.email=reenact@localhost", "-c", "commit.gpgSign=false")


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
