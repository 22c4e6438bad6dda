"""A repository as files on this disk at one commit: from a folder, an archive, a bundle or an address.

A folder without a wish for a commit is used where it lies and only read. Everything else becomes a folder of
its own below `into`, named after what it holds, complete or not there: asked again, it is found again.
Nothing of the repository runs: no hooks, filters or submodules; links come out as plain files.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import InputError, UnreadableRepository
from reenact.files import open_regular
from reenact.intake.archive import Bounds, is_archive, unpack
from reenact.intake.bundle import fetch_bundle, is_bundle
from reenact.intake.git_words import git_said
from reenact.sandbox.files.cleanup import remove_tree
from reenact.sandbox.repositories.git import Repository, clone
from reenact.types import Stop

CHANGED = "+changes"
"""Ends the commit of a folder whose files differ from it."""
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[\w.-]+@[\w.-]+:")
_STALE_S = 24 * 3600.0


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


def open_repository(
    ref: str,
    commit: str | None = None,
    *,
    into: Path,
    bounds: Bounds | None = None,
    wall_s: float = 600.0,
    stop: Stop | None = None,
) -> Checkout:
    """The repository that `ref` names, at a commit; without one its newest, a folder as it lies."""
    opener = _Opener(ref, commit or "", into, bounds or Bounds(), wall_s, stop)
    path = Path(ref)
    if _ADDRESS.match(ref):
        return opener.from_address(ref, local=False)
    if os.path.isdir(path):  # noqa: PTH112 - a name that is too long is no folder, and no error
        return opener.from_folder(path)
    if is_bundle(path):
        return opener.from_bundle(path)
    if is_archive(path):
        return opener.from_archive(path)
    there = os.path.lexists(path)
    if there:
        open_regular(path).close()
    why = "it is neither a zip or tar archive nor a git bundle" if there else "there is nothing"
    raise UnreadableRepository(
        f"The repository cannot be read: {why}. Received: {ref}",
        next_step="Name a folder, an archive, a git bundle or an https address.",
    )


@dataclass(frozen=True, slots=True)
class _Opener:
    source: str
    commit: str
    into: Path
    bounds: Bounds
    wall_s: float
    stop: Stop | None

    def from_folder(self, folder: Path) -> Checkout:
        folder = folder.absolute()
        if not (folder / ".git").exists() and (folder / "objects").is_dir() and (folder / "HEAD").is_file():
            return self.from_address(str(folder), local=True)
        if self.commit:
            return self._exported(Repository(folder, self.wall_s), self.commit)
        return _counted(folder, _commit_of_folder(folder), self.source, self.bounds)

    def from_bundle(self, path: Path) -> Checkout:
        partial = self._partial()
        try:
            repository, newest = fetch_bundle(
                path, partial, most_bytes=self.bounds.most_bytes, stop=self.stop
            )
            if not (self.commit or newest):
                raise UnreadableRepository(
                    f"The bundle {path.name} has several branches and none of a usual name.",
                    next_step="Name the commit or branch with --commit.",
                )
            return self._exported(repository, self.commit or newest)
        finally:
            remove_tree(partial)

    def from_address(self, address: str, *, local: bool) -> Checkout:
        if _HASH.fullmatch(self.commit) and (known := self._place(self.commit)).is_dir():
            return _counted(known, self.commit, self.source, self.bounds)

        def fill(partial: Path) -> str:
            cloned = clone(
                address,
                partial,
                revision=self.commit,
                local=local,
                wall_s=self.wall_s,
                most_bytes=self.bounds.most_bytes,
                stop=self.stop,
            )
            found = cloned.head()
            remove_tree(partial / ".git")
            return found

        with git_said(self.source, self.commit):
            return self._made(fill)

    def from_archive(self, path: Path) -> Checkout:
        with open_regular(path, self.bounds.most_bytes) as stream:
            name = hashlib.file_digest(stream, "sha256").hexdigest()
        place = self.into / f"archive-{name[:40]}"
        partial = self._partial()
        try:
            unpacked = unpack(path, partial, self.bounds)
            inner = unpacked.folder.relative_to(partial)
            _settle(partial, place)
        finally:
            remove_tree(partial)
        folder = place / inner
        if self.commit and (folder / ".git").is_dir():
            return self._exported(Repository(folder, self.wall_s), self.commit)
        if self.commit and not (unpacked.commit and unpacked.commit.startswith(self.commit)):
            raise UnreadableRepository(
                f"An archive has no history to take a commit from. Received: commit={self.commit}",
                next_step="Leave the commit out, or name a folder with a .git, a bundle or an https address.",
            )
        return _counted(folder, unpacked.commit, self.source, self.bounds)

    def _exported(self, repository: Repository, revision: str) -> Checkout:
        with git_said(self.source, revision):
            commit = repository.commit(revision)
            if (known := self._place(commit)).is_dir():
                return _counted(known, commit, self.source, self.bounds)

            def fill(partial: Path) -> str:
                repository.export(commit, partial, most_bytes=self.bounds.most_bytes)
                return commit

            return self._made(fill)

    def _made(self, fill: Callable[[Path], str]) -> Checkout:
        """A checkout that is filled beside its place and moved there whole."""
        partial = self._partial()
        try:
            commit = fill(partial)
            checkout = _counted(partial, commit, self.source, self.bounds)
            _settle(partial, self._place(commit))
        finally:
            remove_tree(partial)
        return Checkout(self._place(commit), commit, self.source, checkout.files)

    def _place(self, commit: str) -> Path:
        # Two sources may claim one hash for different files, so the source is part of the name.
        named = hashlib.sha256(f"{self.source}\0{commit}".encode()).hexdigest()
        return self.into / f"commit-{commit[:12]}-{named[:16]}"

    def _partial(self) -> Path:
        self.into.mkdir(parents=True, exist_ok=True)
        for old in self.into.glob(".partial-*"):
            with suppress(FileNotFoundError):
                if time.time() - old.stat().st_mtime > _STALE_S:
                    remove_tree(old)
        partial = self.into / f".partial-{secrets.token_hex(8)}"
        partial.mkdir()
        return partial.absolute()


def _settle(partial: Path, place: Path) -> None:
    """Move a complete folder to its place; when another process was faster, its copy is as good."""
    try:
        partial.rename(place)
    except OSError:
        if not place.is_dir():
            raise


def _commit_of_folder(folder: Path) -> str:
    """The commit of a folder as it lies; empty where git has nothing to say about it."""
    if not (folder / ".git").is_dir():
        return ""
    repository = Repository(folder)
    try:
        return repository.head() + (CHANGED if repository.changed() else "")
    except InputError:
        return ""


def _counted(folder: Path, commit: str, source: str, bounds: Bounds) -> Checkout:
    """The checkout with its files counted. UnreadableRepository when there is no Python in it."""
    files = python = 0
    for inner, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        plain = [name for name in names if not (Path(inner) / name).is_symlink()]
        files += len(plain)
        python += sum(name.endswith(".py") for name in plain)
        if files > bounds.most_files:
            raise UnreadableRepository(
                f"The repository {source} has more than {bounds.most_files} files.",
                next_step="Name the folder of the project itself, without data and environments.",
            )
    if not python:
        raise UnreadableRepository(
            f"The repository {source} holds no Python: {files} files, none ends in .py.",
            next_step="Name the folder that holds the project's source code.",
        )
    return Checkout(folder, commit, source, files)
