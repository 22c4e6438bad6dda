"""Looks into git trees that came from outside, and fetches them. The only file that starts git.

Covered: whatever a `.git/config` can make git run (fsmonitor, hooks, filters, textconv, external diff,
pager, ssh and credential commands, aliases, includes) is never read: git works with settings of ours and
a folder of ours that borrows objects, index and references. Submodules are not entered, links in a tree
come out as plain files, no protocol but https is spoken and only while cloning, the user's and the system's
settings are not read, time and size are bounded. Not covered: faults in git's own parsers. A server sees
that it is asked.
"""

import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from reenact.errors import InputError, MissingPart, ended_by
from reenact.sandbox.disk import tree_usage
from reenact.sandbox.files.cleanup import remove_tree
from reenact.sandbox.processes import MOST_PRINTED, run_bounded
from reenact.types import Stop

_SETTINGS = """
    core.fsmonitor=false core.hooksPath=/dev/null core.attributesFile=/dev/null core.excludesFile=/dev/null
    core.symlinks=false core.untrackedCache=false core.protectHFS=true core.protectNTFS=true
    credential.helper= diff.external= gc.auto=0 maintenance.auto=false submodule.recurse=false
    transfer.fsckObjects=true protocol.allow=never
"""
_VARIABLES = """
    LANG=C.UTF-8 HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
    GIT_CONFIG_SYSTEM=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=/bin/false
    GIT_OPTIONAL_LOCKS=0 GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1 GIT_LITERAL_PATHSPECS=1
    GIT_PAGER=cat GIT_EDITOR=false
"""
_NETWORK = ("https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "SSL_CERT_FILE", "GIT_SSL_CAINFO")


def bounded(folder: Path, most_bytes: int, stop: Stop | None = None) -> Callable[[], None]:
    """Looks at what a clone has taken while it runs."""

    def look() -> None:
        if stop is not None and stop.asked:
            raise ended_by(stop, "Cloning was stopped.")
        if tree_usage(folder, sys.maxsize).bytes > most_bytes:
            raise InputError(f"The repository is larger than {most_bytes} bytes.")

    return look


def run_git(
    git: Path,
    tree: Path,
    arguments: tuple[str, ...],
    *,
    wall_s: float,
    allow: str = "",
    look: Callable[[], None] = lambda: None,
    stdin: bytes = b"",
) -> bytes:
    """Run git with our settings alone and give what it prints. Every failure is an InputError."""
    program = shutil.which("git")
    if program is None:
        raise MissingPart("git is not installed.", next_step="apt install git")
    settings = (*_SETTINGS.split(), *((f"protocol.{allow}.allow=always",) if allow else ()))
    argv = [program, *(part for setting in settings for part in ("-c", setting)), "--no-pager"]
    argv += [f"--git-dir={git}", f"--work-tree={tree}", *arguments]
    variables = dict(pair.split("=") for pair in _VARIABLES.split())
    variables["PATH"] = os.environ.get("PATH", "/usr/bin:/bin")
    if allow == "https":
        variables |= {name: os.environ[name] for name in _NETWORK if name in os.environ}
    try:
        done = run_bounded(argv, folder=tree, environment=variables, wall_s=wall_s, look=look, stdin=stdin)
    except TimeoutError as error:
        raise InputError(f"git did not end within {wall_s:g} s.") from error
    if done.returncode != 0:
        lines = done.stderr[:2000].decode(errors="replace").strip().splitlines()
        raise InputError(f"git {arguments[0]} failed: {lines[-1] if lines else done.returncode}")
    if len(done.stdout) > MOST_PRINTED:
        raise InputError(f"git {arguments[0]} printed more than {MOST_PRINTED} bytes.")
    return done.stdout


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

    def day(self, commit: str) -> date:
        """When a commit was made."""
        stated = self._ask("show", "--no-patch", "--format=%cs", _revision(commit), "--").decode().strip()
        return date.fromisoformat(stated.splitlines()[-1])

    def changed(self) -> tuple[str, ...]:
        """Files that differ from the commit that is checked out, or that it does not know."""
        how = ("--porcelain=v1", "-z", "--no-renames", _NO_SUBMODULES, "--untracked-files=all")
        printed = self._ask("status", *how)
        return tuple(line[3:].decode(errors="replace") for line in printed.split(b"\0") if line)

    def export(self, revision: str, into: Path, *, most_bytes: int = 2 * 1024**3) -> None:
        """Write all files of a revision into an empty folder; links come out as plain files."""
        into.mkdir(parents=True, exist_ok=True)
        if any(into.iterdir()):
            raise InputError(f"The folder for the files of {revision} is not empty: {into}")
        with own_git_folder(self.folder) as git:
            (git / "index").unlink(missing_ok=True)
            ask = partial(run_git, git, into, wall_s=self.wall_s)
            ask(("read-tree", f"{_revision(revision)}^{{tree}}"))
            ask_bounded = partial(ask, look=bounded(into, most_bytes))
            try:
                ask_bounded(("checkout-index", "--all", "--force"))
            except InputError:
                # A partial clone lacks the content of some files; whoever needs one of them will say so.
                ask_bounded(("checkout-index", "--force", "-z", "--stdin"), stdin=_readable(ask))

    def _ask(self, *arguments: str) -> bytes:
        with own_git_folder(self.folder) as git:
            return run_git(git, self.folder, arguments, wall_s=self.wall_s)


def _readable(ask: Callable[..., bytes]) -> bytes:
    """Files of the index whose content is there, each with a NUL behind it."""
    printed = ask(("ls-files", "--stage", "-z"))
    entries = [line.partition("\t") for line in printed.decode(errors="replace").split("\0") if line]
    hashes = "".join(f"{head.split()[1]}\n" for head, _, _ in entries)
    kinds = ask(("cat-file", "--batch-check=%(objecttype)"), stdin=hashes.encode()).decode().splitlines()
    there = [f"{name}\0" for (_, _, name), kind in zip(entries, kinds, strict=True) if kind == "blob"]
    if not there:
        raise InputError("The repository has none of the files of this commit.")
    return "".join(there).encode()


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
    protocol = "https" if _HTTPS.fullmatch(address) else "file"
    if protocol == "file" and not (local and address.startswith("/") and Path(address).is_dir()):
        raise InputError(
            f"A repository is cloned from an https address only, received: address={address!r}",
            next_step="give the repository as https://HOST/PATH, or clone it yourself and name the folder",
        )
    if into.exists() and any(into.iterdir()):
        raise InputError(f"The folder to clone into is not empty: {into}")
    into.mkdir(parents=True, exist_ok=True)
    ask = partial(run_git, into / ".git", into, wall_s=wall_s, look=bounded(into, most_bytes, stop))
    try:
        ask(("init", "--quiet", "--template="))
        wanted = _revision(revision) if revision else "HEAD"
        fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
        ask((*fetch, "--", address, wanted), allow=protocol)
        ask(("checkout", "--quiet", "--detach", "FETCH_HEAD"))
    except BaseException:
        remove_tree(into)
        raise
    return Repository(into)


def _revision(text: str) -> str:
    if not _REVISION.fullmatch(text) or ".." in text:
        raise InputError(f"This is no revision of a repository: revision={text!r}")
    return text


def is_bare(folder: Path) -> bool:
    """Whether a folder is itself what is `.git` elsewhere."""
    parts = (_mode(folder / ".git"), _mode(folder / "objects"), _mode(folder / "HEAD"))
    return not parts[0] and stat.S_ISDIR(parts[1]) and stat.S_ISREG(parts[2])


MOST_REFERENCES = 20_000
_HEAD = re.compile(r"(?:ref: refs/[\w./+-]+|[0-9a-f]{40}|[0-9a-f]{64})\n?")


@contextmanager
def own_git_folder(tree: Path) -> Iterator[Path]:
    """Our git folder for the untrusted work tree `tree`, removed afterwards."""
    theirs = tree if is_bare(tree) else tree / ".git"
    if not stat.S_ISDIR(_mode(theirs)) or not stat.S_ISDIR(_mode(theirs / "objects")):
        raise InputError(f"This is no git work tree with a .git folder of its own: folder={tree}")
    if _mode(theirs / "objects" / "info" / "alternates"):
        raise InputError(f"This repository borrows objects from another one, which is not followed: {tree}")
    with tempfile.TemporaryDirectory(prefix="reenact-git-") as made:
        ours = Path(made)
        (ours / "objects" / "info").mkdir(parents=True)
        (ours / "objects" / "info" / "alternates").write_text(f"{(theirs / 'objects').absolute()}\n")
        (ours / "refs").mkdir()
        head = _read(theirs / "HEAD", 1024).decode(errors="replace")
        if not _HEAD.fullmatch(head):
            raise InputError(f"The repository's HEAD makes no sense: {head[:80]!r}")
        (ours / "HEAD").write_text(head)
        # Of their settings only the kind of hash is looked at, by its letters.
        stated = _read(theirs / "config", 1024 * 1024) if stat.S_ISREG(_mode(theirs / "config")) else b""
        sha256 = re.search(rb"(?im)^\s*objectformat\s*=\s*sha256\s*$", stated) is not None
        hashes = "[extensions]\n\tobjectFormat = sha256\n" if sha256 else ""
        core = f"[core]\n\trepositoryformatversion = {int(sha256)}\n\tbare = false\n"
        (ours / "config").write_text(core + hashes)
        for name in ("index", "packed-refs", "shallow"):
            if stat.S_ISREG(_mode(theirs / name)):
                written = (theirs / name).lstat().st_mtime_ns
                (ours / name).write_bytes(_read(theirs / name, 256 * 1024 * 1024))
                # git reads a file again when it is as young as the index: a copy of today would hide changes.
                os.utime(ours / name, ns=(written, written))
        _copy_references(theirs, ours)
        yield ours


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
            if stat.S_ISREG(_mode(source)):
                (target / name).write_bytes(_read(source, 1024))


def _mode(path: Path) -> int:
    with suppress(OSError):
        return path.lstat().st_mode
    return 0


def _read(path: Path, most: int) -> bytes:
    """The first bytes of a plain file; a link or anything that could make us wait is an error."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"The repository's {path.name} cannot be read: {error.strerror}.") from error
    with os.fdopen(opened, "rb") as source:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise InputError(f"The repository's {path.name} is not a plain file.")
        content = source.read(most + 1)
    if len(content) > most:
        raise InputError(f"The repository's {path.name} has more than {most} bytes.")
    return content
