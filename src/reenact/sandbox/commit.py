"""Asks what was not committed, and commits, in work trees that reenact did not make.

Nothing of the tree's configuration is obeyed (git_folder.py): no filter cleans a file, no hook sees
a commit. A file is committed as the bytes that are given. New objects and the branch are written
into the tree's own git folder, so that the user finds them there.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reenact.errors import InputError
from reenact.sandbox.git_folder import (
    TheirGit,
    own_git_folder,
    write_file,
    write_reference,
)
from reenact.sandbox.repository import run_git

WALL_S = 60.0
_AUTHOR = (
    "-c",
    "user.name=reenact",
    "-c",
    "user.email=reenact@localhost",
    "-c",
    "commit.gpgSign=false",
)
# Line ends alone are not a change: whether the tree converts them is in settings that are not read.
_AS_ON_DISK = (
    "-c",
    "core.autocrlf=input",
    "-c",
    "core.fileMode=false",
    "-c",
    "core.symlinks=true",
)


def uncommitted(
    tree: Path,
    theirs: TheirGit,
    names: Iterable[str],
) -> list[str]:
    """Those of the files that differ from the last commit; a file that git does not know does
    not.
    """
    asked = sorted(names)
    if not asked:
        return []
    how = (
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=no",
        "--ignore-submodules=all",
    )
    with own_git_folder(theirs) as own:
        printed = run_git(
            own,
            tree,
            (*_AS_ON_DISK, "status", *how, "--", *asked),
            wall_s=WALL_S,
        )
    return [line[3:].decode(errors="replace") for line in printed.split(b"\0") if line]


@dataclass(frozen=True, slots=True)
class CommittedFile:
    """A file of a commit."""

    mode: str
    content: bytes


def committed_file(theirs: TheirGit, name: str) -> CommittedFile | None:
    """A file as it is in the last commit; none where that has no such file."""
    with own_git_folder(theirs) as own:
        listed = run_git(own, own, ("ls-tree", "-z", "HEAD", "--", name), wall_s=WALL_S).decode()
        if not listed:
            return None
        mode, kind, identity = listed.partition("\t")[0].split()
        if kind != "blob":
            return None
        return CommittedFile(
            mode,
            run_git(own, own, ("cat-file", "blob", identity), wall_s=WALL_S),
        )


def commit_files(
    theirs: TheirGit,
    files: Mapping[str, CommittedFile | None],
    message: str,
    *,
    branch: str = "",
) -> str:
    """The commit on top of the last one with these files, where none means removed.

    It goes onto a new branch of that name, which must not be there yet; else onto the one that is
    checked out, whose index then is that of the commit. One that is there already, with this
    message and these files, is found again.
    """
    with own_git_folder(theirs) as own:
        ask = partial(
            run_git,
            own,
            own,
            wall_s=WALL_S,
            objects=theirs.objects,
        )
        if branch:
            ask(("check-ref-format", "--branch", branch))
            reference = f"refs/heads/{branch}"
            parent = ask(("rev-parse", "--verify", "HEAD^{commit}")).decode().strip()
        else:
            reference = _checked_out(own)
            parent = ask(("for-each-ref", "--format=%(objectname)", reference)).decode().strip()
        (own / "index").unlink(missing_ok=True)
        if parent:
            ask(("read-tree", parent))
        ask(
            ("update-index", "-z", "--index-info"),
            stdin=_index_lines(ask, files),
        )
        tree = ask(("write-tree",)).decode().strip()
        if parent and not branch and _is_there(ask, parent, tree, message):
            return parent
        above = ("-p", parent) if parent else ()
        commit = (
            ask(
                (
                    *_AUTHOR,
                    "commit-tree",
                    tree,
                    *above,
                    "-m",
                    message,
                )
            )
            .decode()
            .strip()
        )
        before = "" if branch else parent
        # In our copy first: git refuses a name that is taken, or that is a folder of other
        # branches.
        ask(("update-ref", reference, commit, before))
        if not branch:
            write_file(
                theirs.own / "index",
                (own / "index").read_bytes(),
            )
        write_reference(theirs, reference, commit, new=bool(branch))
    return commit


def _checked_out(own: Path) -> str:
    """The reference that HEAD names."""
    kind, _, reference = (own / "HEAD").read_text().strip().partition(": ")
    if kind != "ref":
        raise InputError("No branch is checked out in the git history: a commit of it is.")
    return reference


def _index_lines(
    ask: Callable[..., bytes],
    files: Mapping[str, CommittedFile | None],
) -> bytes:
    """What `git update-index --index-info` reads; mode 0 takes a file out."""
    lines: list[bytes] = []
    for name, entry in sorted(files.items()):
        if entry is None:
            mode = "0"
            identity = "0" * 40
        else:
            mode = entry.mode
            # Without a path no attribute of the tree counts.
            identity = ask(("hash-object", "-w", "--stdin"), stdin=entry.content).decode().strip()
        lines.append(f"{mode} {identity}\t".encode() + os.fsencode(name) + b"\0")
    return b"".join(lines)


def _is_there(
    ask: Callable[..., bytes],
    commit: str,
    tree: str,
    message: str,
) -> bool:
    printed = ask(("log", "-1", "--format=%T%n%B", commit)).decode(errors="replace")
    its_tree, _, its_message = printed.partition("\n")
    return its_tree == tree and its_message.strip() == message.strip()
