"""A repository as files on this disk at one commit: from a folder, an archive, a bundle or an
address.

A folder is used where it is and only read, unless a commit is asked for. Everything else becomes a
folder of its own below `into`, named after what it holds, complete or not there: asked again, it is
found again. Nothing of the repository runs: no hooks, filters or submodules; links come out as
plain files.
"""

import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from reenact.errors import InputError, Unreachable, UnreadableRepository
from reenact.files import open_regular, read_start
from reenact.intake.archive import Bounds, is_archive, unpack
from reenact.sandbox.files.cleanup import remove_tree
from reenact.sandbox.git_folder import is_bare
from reenact.sandbox.repository import Repository, bounded, clone, run_git
from reenact.types import Stop

CHANGED = "+changes"
"""Ends the commit of a folder whose files differ from it."""
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[\w.-]+@[\w.-]+:")
_STALE_S = 24 * 3600.0
BOUNDS = Bounds()
WALL_S = 600.0
"""How long git may take."""
_GIT_ERRORS = {
    "commit": r"remote ref|not our ref|single revision|unknown revision|bad revision|Not a valid object"
    r"|unadvertised object|not a revision of",
    "access": r"could not read Username|Authentication failed|not found|error: 40[34]",
    "network": r"resolve host|connect to|timed out|unreachable|unable to access|TLS|SSL",
}
"""What git prints, by what is missing; the first that fits counts."""
_MAGIC = (b"# v2 git bundle\n", b"# v3 git bundle\n")
_BUNDLE_S = 300.0
_USUAL = ("main", "master", "trunk", "develop")


@dataclass(frozen=True, slots=True)
class Checkout:
    """The files of a repository at one commit. All of it is untrusted."""

    folder: Path
    commit: str
    """Its full hash; empty without a history; ends in `+changes` when the files differ from it."""
    source: str
    """What the user named, for a reader."""
    files: int
    """Plain files in the folder, without those of version control."""
    day: date | None = None
    """When the commit was made, where that is known."""


def open_repository(
    ref: str,
    commit: str | None = None,
    *,
    into: Path,
    stop: Stop | None = None,
) -> Checkout:
    """The repository that `ref` names, at a commit; without one its newest, a folder as it lies."""
    opener = _Opener(ref, commit or "", into, stop)
    path = Path(ref)
    if _ADDRESS.match(ref):
        return opener.from_address(ref)
    if os.path.isdir(path):  # noqa: PTH112 - a name that is too long is not a folder, and no error
        folder = path.absolute()
        if commit or is_bare(folder):
            return opener.exported(Repository(folder, WALL_S), commit or "HEAD")
        return _counted(folder, _commit_of_folder(folder), ref)
    if is_bundle(path):
        return opener.from_bundle(path)
    if is_archive(path):
        return opener.from_archive(path)
    there = os.path.lexists(path)
    if there:
        open_regular(path).close()
    why = "it is neither a zip or tar archive nor a git bundle" if there else "there is nothing"
    instead = "Name a folder, an archive, a git bundle or an https address."
    raise UnreadableRepository(
        f"The repository cannot be read: {why}. Received: {ref}", next_step=instead
    )


@dataclass(frozen=True, slots=True)
class History:
    """The commits of a repository on this disk, each of which can be checked out."""

    repository: Repository
    source: str
    into: Path
    stop: Stop | None = None

    def between(self, good: str, bad: str) -> tuple[str, ...]:
        """The commits after one up to another, oldest first."""
        with git_errors(self.source, f"{good}..{bad}"):
            return self.repository.between(good, bad)

    def subject(self, commit: str) -> str:
        """What a commit says that it does."""
        return self.repository.subject(commit)

    def checkout(self, commit: str) -> Checkout:
        """Its files."""
        opener = _Opener(self.source, commit, self.into, self.stop)
        return opener.exported(self.repository, commit)


@contextmanager
def open_history(ref: str, *, into: Path, stop: Stop | None = None) -> Iterator[History]:
    """The history of a folder with a `.git`, or of a git bundle."""
    path = Path(ref)
    if is_bundle(path):
        with TemporaryDirectory(prefix="reenact-history-") as folder:
            repository, _ = _fetch_bundle(path, Path(folder), stop)
            yield History(repository, ref, into, stop)
        return
    if not path.is_dir():
        why = f"A bisection needs the history on this disk. Received: {ref}"
        instead = "Clone the repository, and name its folder or a git bundle."
        raise UnreadableRepository(why, next_step=instead)
    yield History(Repository(path.absolute(), WALL_S), ref, into, stop)


@dataclass(frozen=True, slots=True)
class _Opener:
    source: str
    commit: str
    into: Path
    stop: Stop | None

    def from_bundle(self, path: Path) -> Checkout:
        with self._partial() as partial:
            repository, newest = _fetch_bundle(path, partial, self.stop)
            if not (self.commit or newest):
                why = f"The bundle {path.name} has several branches and none of a usual name."
                raise UnreadableRepository(
                    why, next_step="Name the commit or branch with --commit."
                )
            return self.exported(repository, self.commit or newest)

    def from_address(self, address: str) -> Checkout:
        if _HASH.fullmatch(self.commit) and (known := self._place(self.commit)).is_dir():
            return _counted(known, self.commit, self.source)
        bounds: Any = {
            "wall_s": WALL_S,
            "most_bytes": BOUNDS.most_bytes,
            "stop": self.stop,
        }
        with git_errors(self.source, self.commit), self._partial() as partial:
            cloned = clone(address, partial, revision=self.commit, **bounds)
            commit = cloned.head()
            day = cloned.day(commit)
            remove_tree(partial / ".git")
            return self._made(partial, commit, day)

    def from_archive(self, path: Path) -> Checkout:
        with open_regular(path, BOUNDS.most_bytes) as stream:
            name = hashlib.file_digest(stream, "sha256").hexdigest()
        place = self.into / f"archive-{name[:40]}"
        with self._partial() as partial:
            inside, noted = unpack(path, partial, BOUNDS)
            _settle(partial, place)
        folder = place / inside.relative_to(partial)
        if self.commit and (folder / ".git").is_dir():
            return self.exported(Repository(folder, WALL_S), self.commit)
        if self.commit and not (noted and noted.startswith(self.commit)):
            why = f"An archive has no history to take a commit from. Received: commit={self.commit}"
            instead = (
                "Leave the commit out, or name a folder with a .git, a bundle or an https address."
            )
            raise UnreadableRepository(why, next_step=instead)
        return _counted(folder, noted, self.source)

    def exported(self, repository: Repository, revision: str) -> Checkout:
        """The files of a repository on this disk at a revision."""
        with git_errors(self.source, revision):
            commit = repository.commit(revision)
            if (known := self._place(commit)).is_dir():
                return _counted(known, commit, self.source)
            with self._partial() as partial:
                repository.export(commit, partial, most_bytes=BOUNDS.most_bytes)
                return self._made(partial, commit, repository.day(commit))

    def _made(self, partial: Path, commit: str, day: date) -> Checkout:
        """A checkout that was filled next to its place, moved there whole."""
        checkout = _counted(partial, commit, self.source)
        _day_file(self._place(commit)).write_text(day.isoformat())
        _settle(partial, self._place(commit))
        return replace(checkout, folder=self._place(commit), day=day)

    def _place(self, commit: str) -> Path:
        # Two sources may claim one hash for different files, so the source is part of the name.
        named = hashlib.sha256(f"{self.source}\0{commit}".encode()).hexdigest()
        return self.into / f"commit-{commit[:12]}-{named[:16]}"

    @contextmanager
    def _partial(self) -> Iterator[Path]:
        """A folder to fill; what was not moved to its place is removed."""
        self.into.mkdir(parents=True, exist_ok=True)
        for old in self.into.glob(".partial-*"):
            with suppress(FileNotFoundError):
                if time.time() - old.stat().st_mtime > _STALE_S:
                    remove_tree(old)
        partial = self.into / f".partial-{secrets.token_hex(8)}"
        partial.mkdir()
        try:
            yield partial.absolute()
        finally:
            remove_tree(partial)


def _settle(partial: Path, place: Path) -> None:
    """Move a complete folder to its place; when another process was faster, its copy is as good."""
    try:
        partial.rename(place)
    except OSError:
        if not place.is_dir():
            raise


def _commit_of_folder(folder: Path) -> str:
    """The commit of a folder as it lies; empty where git has nothing to say about it."""
    with suppress(InputError):
        repository = Repository(folder)
        if (folder / ".git").is_dir():
            return repository.head() + (CHANGED if repository.changed() else "")
    return ""


def _counted(folder: Path, commit: str, source: str) -> Checkout:
    """The checkout with its files counted. UnreadableRepository when there is no Python in it."""
    files = python = 0
    for inner, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        plain = [name for name in names if not (Path(inner) / name).is_symlink()]
        files += len(plain)
        python += sum(name.endswith(".py") for name in plain)
        if files > BOUNDS.most_files:
            instead = "Name the folder of the project itself, without data and environments."
            why = f"The repository {source} has more than {BOUNDS.most_files} files."
            raise UnreadableRepository(why, next_step=instead)
    if not python:
        why = f"The repository {source} holds no Python: {files} files, none ends in .py."
        raise UnreadableRepository(
            why, next_step="Name the folder that holds the project's source code."
        )
    return Checkout(
        folder,
        commit=commit,
        source=source,
        files=files,
        day=_day(folder),
    )


def _day_file(place: Path) -> Path:
    """Where the day of a checkout's commit is kept, next to it."""
    return place.with_name(f"{place.name}.day")


def _day(folder: Path) -> date | None:
    """When the commit of a checkout was made, by the file next to it or by git; none where
    neither knows.
    """
    with suppress(OSError, ValueError):
        return date.fromisoformat(read_start(_day_file(folder), 20).decode().strip())
    with suppress(InputError):
        if (folder / ".git").is_dir():
            return Repository(folder).day("HEAD")
        return None
    return None


@contextmanager
def git_errors(source: str, commit: str) -> Iterator[None]:
    """Names a missing commit, a closed repository and an absent network; other errors pass."""
    try:
        yield
    except UnreadableRepository:
        raise
    except InputError as error:
        for kind, pattern in _GIT_ERRORS.items():
            if re.search(pattern, error.sentence, re.I):
                raise _git_error(kind, source, commit, error.sentence) from error
        raise


def _git_error(
    kind: str,
    source: str,
    commit: str,
    why: str,
) -> UnreadableRepository | Unreachable:
    repository = f"The repository {source}"
    if kind == "commit" and not commit:
        return UnreadableRepository(f"{repository} is empty: it has no commit yet.")
    if kind == "commit":
        short = re.fullmatch(r"[0-9a-f]{4,39}", commit)
        instead = (
            "Give the commit with all its digits." if short else "Check the name with git log."
        )
        return UnreadableRepository(
            f"{repository} has no commit or branch {commit!r}.", next_step=instead
        )
    if kind == "access":
        why = "is not there, or is not open to everybody"
        instead = "Clone it yourself and name the folder."
        return UnreadableRepository(
            f"{repository} {why}.",
            next_step=instead,
        )
    instead = "Check the network, or name a folder, an archive or a bundle."
    return Unreachable(f"{repository} cannot be reached: {why}", next_step=instead)


def is_bundle(path: Path) -> bool:
    """Whether a file is a git bundle, by its first line."""
    with suppress(OSError):
        return read_start(path, 64).startswith(_MAGIC)
    return False


def _fetch_bundle(
    path: Path,
    into: Path,
    stop: Stop | None,
) -> tuple[Repository, str]:
    """All branches and tags of a bundle in a fresh repository, and the revision it would check
    out.
    """
    git = into / ".git"
    look = bounded(into, BOUNDS.most_bytes, stop)
    file = str(path.absolute())
    run_git(git, into, ("init", "--quiet", "--template="), wall_s=_BUNDLE_S)
    references = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
    fetch = (
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-recurse-submodules",
        "--update-head-ok",
        "--",
        file,
    )
    try:
        run_git(
            git,
            into,
            (*fetch, *references),
            wall_s=_BUNDLE_S,
            allow="file",
            look=look,
        )
        listed = run_git(
            git,
            into,
            ("ls-remote", "--", file),
            wall_s=_BUNDLE_S,
            allow="file",
        )
    except InputError as error:
        raise UnreadableRepository(
            f"The bundle {path.name} cannot be read: {error.sentence}"
        ) from error
    return Repository(into), _default(listed.decode(errors="replace"))


def _default(listed: str) -> str:
    """The commit of HEAD, of a branch with a usual name, or of the only branch; empty otherwise."""
    named = {
        name: commit for commit, _, name in (line.partition("\t") for line in listed.splitlines())
    }
    branches = [commit for name, commit in named.items() if name.startswith("refs/heads/")]
    usual = (
        named.get("HEAD"),
        *(named.get(f"refs/heads/{name}") for name in _USUAL),
    )
    return next(filter(None, usual), "") or (branches[0] if len(branches) == 1 else "")
