"""A git folder of ours in place of the one that came with a work tree.

git does what `.git/config`, `.git/info/attributes` and `.git/hooks` say, and such a folder may come
with an archive or a copy. So git is never given one that reenact did not make: it works with a
folder of ours, with settings of ours, that borrows the objects of theirs and has copies of their
index and references. Of their settings one word is looked at, the kind of hash.
"""

import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import InputError

MOST_REFERENCES = 20_000
MOST_INDEX = 256 * 1024 * 1024
_HEAD = re.compile(r"(?:ref: refs/[\w./+-]+|[0-9a-f]{40}|[0-9a-f]{64})\n?")
_SHARED_INDEX = re.compile(r"sharedindex\.[0-9a-f]{40,64}")


@dataclass(frozen=True, slots=True)
class TheirGit:
    """Where git keeps what it knows of a work tree that we did not make."""

    own: Path
    """HEAD and index of this work tree."""
    common: Path
    """Objects and references; another folder where the work tree was added to a repository."""

    @property
    def objects(self) -> Path:
        return self.common / "objects"


def of_untrusted(tree: Path) -> TheirGit:
    """That of a work tree from outside, or of a bare repository. A file that names another place is
    refused, and so are objects that are borrowed from elsewhere.
    """
    theirs = tree if is_bare(tree) else tree / ".git"
    if not is_folder(theirs) or not is_folder(theirs / "objects"):
        raise InputError(
            f"This is not a git work tree with a .git folder of its own: folder={tree}"
        )
    if _mode(theirs / "objects" / "info" / "alternates"):
        raise InputError(
            f"This repository borrows objects from another one, which is not followed: {tree}"
        )
    return TheirGit(theirs, theirs)


def of_user(tree: Path) -> TheirGit:
    """That of the user's own work tree, which may have been added to another repository."""
    git = tree / ".git"
    if stat.S_ISREG(_mode(git)):
        named = _read(git, 4096).decode(errors="replace").removeprefix("gitdir:").strip()
        git = tree / named
    common = git
    if stat.S_ISREG(_mode(git / "commondir")):
        common = git / _read(git / "commondir", 4096).decode(errors="replace").strip()
    if not is_folder(common / "objects"):
        raise InputError(f"The git folder of the program has no objects. Received: {git}")
    return TheirGit(git, common)


@contextmanager
def own_git_folder(theirs: TheirGit) -> Iterator[Path]:
    """Our git folder for a work tree that we did not make, removed afterwards."""
    if _mode(theirs.common / "reftable"):
        raise InputError(
            f"This repository keeps its references as reftable, which is not read: {theirs.common}"
        )
    with tempfile.TemporaryDirectory(prefix="reenact-git-") as made:
        ours = Path(made)
        (ours / "objects" / "info").mkdir(parents=True)
        (ours / "objects" / "info" / "alternates").write_text(f"{theirs.objects.absolute()}\n")
        (ours / "refs").mkdir()
        head = _read(theirs.own / "HEAD", 1024).decode(errors="replace")
        if not _HEAD.fullmatch(head):
            raise InputError(f"The repository's HEAD makes no sense: {head[:80]!r}")
        (ours / "HEAD").write_text(head)
        (ours / "config").write_text(_settings(theirs))
        _copy_with_time(theirs.own, ours, "index")
        for name in ("packed-refs", "shallow"):
            _copy_with_time(theirs.common, ours, name)
        for entry in os.scandir(theirs.own):
            if _SHARED_INDEX.fullmatch(entry.name):
                _copy_with_time(theirs.own, ours, entry.name)
        _copy_references(theirs.common, ours)
        yield ours


def write_reference(
    theirs: TheirGit,
    name: str,
    commit: str,
    *,
    new: bool,
) -> None:
    """Let a reference (`refs/heads/NAME`) name a commit. `new`: it must not be there yet."""
    path = theirs.common / name
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in path.parents:
        if folder == theirs.common:
            break
        if not is_folder(folder):
            raise InputError(
                f"The repository's references are not in plain folders. Received: {folder}"
            )
    write_file(
        path,
        f"{commit}\n".encode(),
        new=new,
    )


def write_file(path: Path, content: bytes, *, new: bool = False) -> None:
    """Write a file of a git folder: the whole new content or the old one, however this process
    ends.
    """
    # git passes over names with this ending, and one that a killed process left is in no one's way.
    half = path.with_name(f"{path.name}.{secrets.token_hex(4)}.lock")
    opened = os.open(
        half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666
    )
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(content)
        if new:
            os.link(half, path)
        else:
            half.replace(path)
    except FileExistsError as error:
        raise InputError(
            f"This is in the repository already, and is not overwritten: {path}"
        ) from error
    finally:
        half.unlink(missing_ok=True)


def is_bare(folder: Path) -> bool:
    """Whether a folder is itself what is `.git` elsewhere."""
    is_file = stat.S_ISREG(_mode(folder / "HEAD"))
    return not _mode(folder / ".git") and is_folder(folder / "objects") and is_file


def is_folder(path: Path) -> bool:
    """Whether there is a folder at this place itself, not a link to one."""
    return stat.S_ISDIR(_mode(path))


def _settings(theirs: TheirGit) -> str:
    """The configuration of our folder. Of theirs only the kind of hash is looked at, by its
    letters.
    """
    config = theirs.common / "config"
    stated = b""
    if stat.S_ISREG(_mode(config)):
        stated = _read(config, 1024 * 1024)
    sha256 = re.search(rb"(?im)^\s*objectformat\s*=\s*sha256\s*$", stated) is not None
    core = f"[core]\n\trepositoryformatversion = {int(sha256)}\n\tbare = false\n"
    hashes = "[extensions]\n\tobjectFormat = sha256\n" if sha256 else ""
    return core + hashes


def _copy_with_time(theirs: Path, ours: Path, name: str) -> None:
    if not stat.S_ISREG(_mode(theirs / name)):
        return
    written = (theirs / name).lstat().st_mtime_ns
    (ours / name).write_bytes(_read(theirs / name, MOST_INDEX))
    # git reads a file again when it is as young as the index: a copy of today would hide changes.
    os.utime(ours / name, ns=(written, written))


def _copy_references(theirs: Path, ours: Path) -> None:
    copied = 0
    for folder, _, names in os.walk(theirs / "refs"):
        target = ours / Path(folder).relative_to(theirs)
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            source = Path(folder) / name
            copied += 1
            if copied > MOST_REFERENCES:
                raise InputError(f"The repository has more than {MOST_REFERENCES} references.")
            if stat.S_ISREG(_mode(source)) and not name.endswith(".lock"):
                (target / name).write_bytes(_read(source, 1024))


def _mode(path: Path) -> int:
    with suppress(OSError):
        return path.lstat().st_mode
    return 0


def _read(path: Path, most: int) -> bytes:
    """The first bytes of a plain file; a link or anything that could make us wait is an error."""
    try:
        opened = os.open(
            path,
            os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC,
        )
    except OSError as error:
        raise InputError(
            f"The repository's {path.name} cannot be read: {error.strerror}."
        ) from error
    with os.fdopen(opened, "rb") as source:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise InputError(f"The repository's {path.name} is not a plain file.")
        content = source.read(most + 1)
    if len(content) > most:
        raise InputError(f"The repository's {path.name} has more than {most} bytes.")
    return content
