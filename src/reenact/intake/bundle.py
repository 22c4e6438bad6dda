"""Git bundles: a whole history in one file, fetched into a folder of ours with settings of ours."""

from __future__ import annotations

from pathlib import Path

from reenact.errors import InputError, UnreadableRepository
from reenact.files import read_start
from reenact.sandbox.git import Bound, run_git
from reenact.sandbox.repository import Repository
from reenact.types import Stop

_MAGIC = (b"# v2 git bundle\n", b"# v3 git bundle\n")
_USUAL = ("main", "master", "trunk", "develop")


def is_bundle(path: Path) -> bool:
    """Whether a file is a git bundle, by its first line."""
    try:
        return read_start(path, 64).startswith(_MAGIC)
    except OSError:
        return False


def fetch_bundle(
    path: Path, into: Path, *, most_bytes: int, wall_s: float = 300.0, stop: Stop | None = None
) -> tuple[Repository, str]:
    """All branches and tags of a bundle in a fresh repository, and the revision it would check out."""
    git = into / ".git"
    bound = Bound(most_bytes, into, stop)
    file = str(path.absolute())
    run_git(git, into, ("init", "--quiet", "--template="), wall_s=wall_s)
    references = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
    fetch = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--update-head-ok", "--", file)
    try:
        run_git(git, into, (*fetch, *references), wall_s=wall_s, allow="file", bound=bound)
        told = run_git(git, into, ("ls-remote", "--", file), wall_s=wall_s, allow="file")
    except InputError as error:
        raise UnreadableRepository(f"The bundle {path.name} cannot be read: {error.sentence}") from error
    return Repository(into), _default(told.decode(errors="replace"))


def _default(told: str) -> str:
    """The commit of HEAD, of a branch with a usual name, or of the only branch; empty otherwise."""
    named = {name: commit for commit, _, name in (line.partition("\t") for line in told.splitlines())}
    branches = {
        name.removeprefix("refs/heads/"): named[name] for name in named if name.startswith("refs/heads/")
    }
    for commit in (named.get("HEAD"), *(branches.get(name) for name in _USUAL)):
        if commit:
            return commit
    return next(iter(branches.values())) if len(branches) == 1 else ""
