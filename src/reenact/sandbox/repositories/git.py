"""Looks into git trees that came from outside, and fetches them.

Covered: whatever a `.git/config` can make git run (fsmonitor, hooks, filters, textconv, external diff,
pager, ssh and credential commands, aliases, includes) is never read: git works with a folder of ours
(git_folder.py) and settings of ours (git_run.py). Submodules are not entered, links in a tree come out as
plain files, no protocol but https is spoken and only while cloning, the user's and the system's settings
are not read, time and size are bounded. Not covered: faults in git's own parsers. A server sees that it is
asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import InputError
from reenact.sandbox.files.cleanup import remove_tree
from reenact.sandbox.repositories.folder import own_git_folder
from reenact.sandbox.repositories.run import Bound, run_git
from reenact.types import Stop

_REVISION = re.compile(r"[\w][\w./~^@{}+-]*")
_HTTPS = re.compile(r"https://[\w.-]+(?::\d+)?/[^\s\x00-\x1f]+")
_NO_SUBMODULES = "--ignore-submodules=all"


@dataclass(frozen=True, slots=True)
class Repository:
    """A work tree with its `.git` folder, both from outside."""

    folder: Path
    wall_s: float = 60.0

    def head(self) -> str:
        """The commit that is checked out."""
        return self.commit("HEAD")

    def commit(self, revision: str) -> str:
        """The commit that a branch, a tag or the first digits of a hash name."""
        return self._ask("rev-parse", "--verify", f"{_revision(revision)}^{{commit}}").decode().strip()

    def changed(self) -> tuple[str, ...]:
        """Files that differ from the commit that is checked out, or that it does not know."""
        told = self._ask(
            "status", "--porcelain=v1", "-z", "--no-renames", _NO_SUBMODULES, "--untracked-files=all"
        )
        return tuple(line[3:].decode(errors="replace") for line in told.split(b"\0") if line)

    def difference(self) -> bytes:
        """The unified diff from the commit that is checked out to the files as they are."""
        return self._ask("diff", "--no-ext-diff", "--no-textconv", "--no-renames", _NO_SUBMODULES, "HEAD")

    def content(self, revision: str, file: str) -> bytes:
        """A file as it was at a revision."""
        return self._ask("cat-file", "blob", f"{_revision(revision)}:{file}")

    def export(self, revision: str, into: Path, *, most_bytes: int = 2 * 1024**3) -> None:
        """Write all files of a revision into an empty folder; links come out as plain files."""
        into.mkdir(parents=True, exist_ok=True)
        if any(into.iterdir()):
            raise InputError(f"The folder for the files of {revision} is not empty: {into}")
        with own_git_folder(self.folder) as git:
            index = git / "index"
            index.unlink(missing_ok=True)
            run_git(git, into, ("read-tree", f"{_revision(revision)}^{{tree}}"), wall_s=self.wall_s)
            bound = Bound(most_bytes, into, None)
            run_git(git, into, ("checkout-index", "--all", "--force"), wall_s=self.wall_s, bound=bound)

    def _ask(self, *arguments: str) -> bytes:
        with own_git_folder(self.folder) as git:
            return run_git(git, self.folder, arguments, wall_s=self.wall_s)


def clone(
    address: str,
    into: Path,
    *,
    revision: str = "",
    local: bool = False,
    wall_s: float = 600.0,
    most_bytes: int = 2 * 1024**3,
    stop: Stop | None = None,
) -> Repository:
    """Fetch one revision of a repository (its default branch when none is named) without its history.

    `local` allows a folder of this machine as address, for a repository the user named.
    """
    protocol = _protocol(address, local=local)
    if into.exists() and any(into.iterdir()):
        raise InputError(f"The folder to clone into is not empty: {into}")
    into.mkdir(parents=True, exist_ok=True)
    git = into / ".git"
    bound = Bound(most_bytes, into, stop)
    try:
        run_git(git, into, ("init", "--quiet", "--template="), wall_s=wall_s)
        wanted = _revision(revision) if revision else "HEAD"
        fetch = (
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--",
            address,
            wanted,
        )
        run_git(git, into, fetch, wall_s=wall_s, allow=protocol, bound=bound)
        run_git(git, into, ("checkout", "--quiet", "--detach", "FETCH_HEAD"), wall_s=wall_s, bound=bound)
    except BaseException:
        remove_tree(into)
        raise
    return Repository(into)


def _protocol(address: str, *, local: bool) -> str:
    if _HTTPS.fullmatch(address):
        return "https"
    if local and address.startswith("/") and Path(address).is_dir():
        return "file"
    raise InputError(
        f"A repository is cloned from an https address only, received: address={address!r}",
        next_step="give the repository as https://HOST/PATH, or clone it yourself and name the folder",
    )


def _revision(text: str) -> str:
    if not _REVISION.fullmatch(text) or ".." in text:
        raise InputError(f"This is no revision of a repository: revision={text!r}")
    return text
