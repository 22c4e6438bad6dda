"""Put a change into the user's own files, with a backup; or on a git branch, the files left alone.

Neither obeys what the repository configures: filters and hooks of its `.git` are not run
(sandbox/commit.py).
"""

from collections.abc import Iterable
from pathlib import Path

from reenact.errors import InputError
from reenact.journal.scope import Scope
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.sandbox.commit import CommittedFile, commit_files, committed_file, uncommitted
from reenact.sandbox.git_folder import TheirGit, of_user

BACKUP = ".before-repair"


def changed_files(program: Program, patch: Patch) -> dict[str, bytes]:
    """The new content of every file that the patch changes, by its path below the program's
    folder.
    """
    after = patch.apply(program)
    pairs = ((old, after.file(old.path)) for old in program.files)
    return {
        str(old.path): new.encode() for old, new in pairs if new is not None and new.raw != old.raw
    }


def write(
    program: Program,
    patch: Patch,
    scope: Scope,
    *,
    allow_dirty: bool = False,
) -> list[Path]:
    """Change the files in place; what stood there is kept next to them. Gives the backups."""
    new = changed_files(program, patch)
    for name in new:
        source = program.file(name)
        if source is not None and (program.folder / name).read_bytes() != source.encode():
            why = (
                f"A file was changed since the repair read it, and is not overwritten. Received: "
                f"{name}."
            )
            instead = "Run the same command again: it repairs the unchanged program."
            raise InputError(why, next_step=instead)
    if not allow_dirty:
        refuse_dirty(program, new)
    old = {f"{name}{BACKUP}": (program.folder / name).read_bytes() for name in new}
    if taken := [name for name in old if (program.folder / name).exists()]:
        why = (
            f"A backup of an earlier repair is still there, and is not overwritten. Received: "
            f"{taken[0]}."
        )
        instead = f"Move {program.folder / taken[0]} away, then run the same command again."
        raise InputError(why, next_step=instead)
    scope.edit("apply", program.folder, {**old, **new})
    return [program.folder / name for name in old]


def refuse_dirty(program: Program, names: Iterable[str]) -> None:
    """Raises InputError where one of the files has changes that were not committed; a file that git
    does not know has none.
    """
    root = _root(program.folder)
    if root is None:
        return
    below = program.folder.resolve().relative_to(root)
    if dirty := uncommitted(
        root,
        of_user(root),
        [str(below / name) for name in names],
    ):
        why = (
            f"A file has changes that were not committed, and is not overwritten. Received: "
            f"{dirty[0]}."
        )
        instead = (
            "Commit or stash them, or add --allow-dirty to write all the same; a backup is kept."
        )
        raise InputError(why, next_step=instead)


def commit_on_branch(
    program: Program,
    patch: Patch,
    branch: str,
    message: str,
    *,
    allow_dirty: bool = False,
) -> str:
    """A commit on a new branch with the change; work tree, index and checked-out branch stay as
    they are.
    """
    root = _root(program.folder)
    new = changed_files(program, patch)
    if root is None:
        why = (
            f"A branch needs a git repository around the program. Received: "
            f"folder={program.folder}."
        )
        instead = "Use --apply alone: it changes the files and keeps what stood there next to them."
        raise InputError(why, next_step=instead)
    if not allow_dirty:
        refuse_dirty(program, new)
    theirs = of_user(root)
    prefix = program.folder.resolve().relative_to(root)
    entries: dict[str, CommittedFile | None] = {}
    for name, content in new.items():
        source = program.file(name)
        old = source.encode() if source is not None else b""
        below = str(prefix / name)
        entries[below] = _entry(
            theirs,
            below,
            old,
            content,
            allow_dirty=allow_dirty,
        )
    return commit_files(theirs, entries, message, branch=branch)


def _entry(
    theirs: TheirGit,
    name: str,
    old: bytes,
    new: bytes,
    *,
    allow_dirty: bool,
) -> CommittedFile:
    """The new content as it is committed: with the line ends that the committed file has."""
    before = committed_file(theirs, name)
    if before is None:
        return CommittedFile("100644", new)
    if before.content != old and before.content == old.replace(b"\r\n", b"\n"):
        return CommittedFile(before.mode, new.replace(b"\r\n", b"\n"))
    if before.content != old and not allow_dirty:
        why = (
            f"What is committed is not what is on disk: a filter of git changes it. Received: "
            f"{name}."
        )
        instead = "Use --apply alone: it changes the file, and you commit it with your filter."
        raise InputError(why, next_step=instead)
    return CommittedFile(before.mode, new)


def _root(folder: Path) -> Path | None:
    """The top of the git work tree around a folder; none where there is no repository."""
    here = folder.resolve()
    for place in (here, *here.parents):
        if (place / ".git").exists():
            return place
    return None
