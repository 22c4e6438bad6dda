"""Put a change into the user's own files, with a backup; or on a git branch, the files left alone."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from reenact.errors import InputError
from reenact.journal.scope import Scope
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.sandbox.repository import run_git

BACKUP = ".before-repair"
WALL_S = 60.0
_AUTHOR = ("-c", "user.name=reenact", "-c", "user.email=reenact@localhost", "-c", "commit.gpgSign=false")


def changed_files(program: Program, patch: Patch) -> dict[str, bytes]:
    """The new content of every file that the patch changes, by its path below the program's folder."""
    after = patch.apply(program)
    pairs = ((old, after.file(old.path)) for old in program.files)
    return {str(old.path): new.encode() for old, new in pairs if new is not None and new.raw != old.raw}


def write(program: Program, patch: Patch, scope: Scope, *, allow_dirty: bool = False) -> list[Path]:
    """Change the files in place; what stood there is kept beside them. Gives the backups."""
    new = changed_files(program, patch)
    for name in new:
        source = program.file(name)
        if source is not None and (program.folder / name).read_bytes() != source.encode():
            why = f"A file was changed since the repair read it, and is not overwritten. Received: {name}."
            instead = "Run the same command again: it repairs the program as it stands now."
            raise InputError(why, next_step=instead)
    if not allow_dirty:
        refuse_dirty(program, new)
    old = {f"{name}{BACKUP}": (program.folder / name).read_bytes() for name in new}
    if taken := [name for name in old if (program.folder / name).exists()]:
        why = f"A backup of an earlier repair is still there, and is not overwritten. Received: {taken[0]}."
        instead = f"Move {program.folder / taken[0]} away, then run the same command again."
        raise InputError(why, next_step=instead)
    scope.edit("apply", program.folder, {**old, **new})
    return [program.folder / name for name in old]


def refuse_dirty(program: Program, names: Iterable[str]) -> None:
    """Raises InputError where one of the files has changes that were not committed; a file that git does not
    know has none."""
    root = _root(program.folder)
    if root is None:
        return
    below = program.folder.resolve().relative_to(root)
    asked = [str(below / name) for name in sorted(names)]
    status = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no", "--", *asked)
    printed = run_git(_git_folder(root), root, status, wall_s=WALL_S) if asked else b""
    if dirty := [line[3:].decode(errors="replace") for line in printed.split(b"\0") if line]:
        why = f"A file has changes that were not committed, and is not overwritten. Received: {dirty[0]}."
        instead = "Commit or stash them, or add --allow-dirty to write all the same; a backup is kept."
        raise InputError(why, next_step=instead)


def commit_on_branch(
    program: Program, patch: Patch, branch: str, message: str, *, allow_dirty: bool = False
) -> str:
    """A commit on a new branch with the change; work tree, index and checked-out branch stay as they are."""
    root, new = _root(program.folder), changed_files(program, patch)
    if root is None:
        why = f"A branch needs a git repository around the program. Received: folder={program.folder}."
        instead = "Use --apply alone: it changes the files and keeps what stood there beside them."
        raise InputError(why, next_step=instead)
    if not allow_dirty:
        refuse_dirty(program, new)
    git = _git_folder(root)
    prefix = program.folder.resolve().relative_to(root)
    run_git(git, root, ("check-ref-format", "--branch", branch), wall_s=WALL_S)
    with tempfile.TemporaryDirectory(prefix="reenact-branch-") as made:
        tree = Path(made) / "tree"
        run_git(git, root, ("worktree", "add", "--quiet", "-b", branch, str(tree), "HEAD"), wall_s=WALL_S)
        try:
            own = _git_folder(tree)
            for name, content in new.items():
                (tree / prefix / name).write_bytes(content)
            run_git(own, tree, ("add", "--", *(str(prefix / name) for name in new)), wall_s=WALL_S)
            run_git(own, tree, (*_AUTHOR, "commit", "--quiet", "-m", message), wall_s=WALL_S)
            return run_git(own, tree, ("rev-parse", "HEAD"), wall_s=WALL_S).decode().strip()
        finally:
            run_git(git, root, ("worktree", "remove", "--force", str(tree)), wall_s=WALL_S)


def _root(folder: Path) -> Path | None:
    """The top of the git work tree around a folder; none where there is no repository."""
    here = folder.resolve()
    return next((place for place in (here, *here.parents) if (place / ".git").exists()), None)


def _git_folder(root: Path) -> Path:
    """Where git keeps what it knows: a work tree beside another has a file that names it."""
    git = root / ".git"
    return git if git.is_dir() else root / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
