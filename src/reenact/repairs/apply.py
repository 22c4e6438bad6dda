"""Put a change into the user's own files, with a backup; or on a git branch, the files left alone."""

import tempfile
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


def write(program: Program, patch: Patch, scope: Scope) -> list[Path]:
    """Change the files in place; what stood there is kept beside them. Gives the backups."""
    new = changed_files(program, patch)
    old = {f"{name}{BACKUP}": (program.folder / name).read_bytes() for name in new}
    taken = [name for name in old if (program.folder / name).exists()]
    if taken:
        raise InputError(
            f"A backup of an earlier repair is still there, and is not overwritten. Received: {taken[0]}.",
            next_step=f"Move {program.folder / taken[0]} away, then run the same command again.",
        )
    scope.edit("apply", program.folder, {**old, **new})
    return [program.folder / name for name in old]


def commit_on_branch(program: Program, patch: Patch, branch: str, message: str) -> str:
    """A commit on a new branch with the change; work tree, index and checked-out branch stay as they are."""
    root = _work_tree(program.folder)
    git = root / ".git"
    prefix = program.folder.resolve().relative_to(root)
    run_git(git, root, ("check-ref-format", "--branch", branch), wall_s=WALL_S)
    with tempfile.TemporaryDirectory(prefix="reenact-branch-") as made:
        tree = Path(made) / "tree"
        run_git(git, root, ("worktree", "add", "--quiet", "-b", branch, str(tree), "HEAD"), wall_s=WALL_S)
        try:
            own = Path((tree / ".git").read_text(encoding="utf-8").removeprefix("gitdir:").strip())
            names = []
            for name, content in changed_files(program, patch).items():
                (tree / prefix / name).write_bytes(content)
                names.append(str(prefix / name))
            run_git(own, tree, ("add", "--", *names), wall_s=WALL_S)
            run_git(own, tree, (*_AUTHOR, "commit", "--quiet", "-m", message), wall_s=WALL_S)
            return run_git(own, tree, ("rev-parse", "HEAD"), wall_s=WALL_S).decode().strip()
        finally:
            run_git(git, root, ("worktree", "remove", "--force", str(tree)), wall_s=WALL_S)


def _work_tree(folder: Path) -> Path:
    here = folder.resolve()
    for place in (here, *here.parents):
        if (place / ".git").is_dir():
            return place
    raise InputError(
        f"A branch needs a git repository around the program. Received: folder={folder}.",
        next_step="Use --apply alone: it changes the files and keeps what stood there beside them.",
    )
