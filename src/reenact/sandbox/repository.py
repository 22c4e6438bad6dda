"""Looks into git trees that came from outside, and fetches them. The only file that starts git.

Covered: whatever a `.git/config` can make git run (fsmonitor, hooks, filters, textconv, external
diff, pager, ssh and credential commands, aliases, includes) is not obeyed: git works with settings
of ours and a git folder of ours, which borrows objects and has copies of index and references
(git_folder.py). It is given no git folder but those that reenact made: one of these, a fresh clone,
the history of a reproduction while it is made. `.gitattributes` of a tree can name filters, but our
folder defines none. Submodules are not entered, links in a tree come out as plain files, no
protocol but https is spoken and only while cloning, the settings of the user and of the system are
not read, time and size are bounded. Not covered: faults in git's own parsers. A server sees that it
is asked.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from reenact.errors import InputError, MissingPart, ended_by
from reenact.host_program import (
    MOST_PRINTED,
    find_program,
    look_at_nothing,
    run_host_program,
)
from reenact.sandbox.disk import tree_usage
from reenact.sandbox.files.cleanup import remove_tree
from reenact.sandbox.git_folder import of_untrusted, own_git_folder
from reenact.types import Stop

_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.symlinks=false",
    "core.untrackedCache=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.alternateRefsCommand=",
    "credential.helper=",
    "diff.external=",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "transfer.fsckObjects=true",
    "protocol.allow=never",
)
_VARIABLES = {
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "/bin/false",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
}


def bounded(
    folder: Path,
    most_bytes: int,
    stop: Stop | None = None,
) -> Callable[[], None]:
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
    look: Callable[[], None] = look_at_nothing,
    stdin: bytes = b"",
    objects: Path | None = None,
) -> bytes:
    """Run git with our settings alone and give what it prints. Every failure is an InputError.

    `git` is a git folder that reenact made; `objects` is where new objects go, when not there.
    """
    program = find_program("git")
    if program is None:
        raise MissingPart("git is not installed.", next_step="apt install git")
    settings = (
        *_SETTINGS,
        *((f"protocol.{allow}.allow=always",) if allow else ()),
    )
    argv = [
        program,
        *(part for setting in settings for part in ("-c", setting)),
        "--no-pager",
    ]
    argv += [
        f"--git-dir={git.absolute()}",
        f"--work-tree={tree.absolute()}",
        *arguments,
    ]
    variables = dict(_VARIABLES)
    if objects is not None:
        variables["GIT_OBJECT_DIRECTORY"] = str(objects.absolute())
    try:
        done = run_host_program(
            argv,
            wall_s=wall_s,
            variables=variables,
            network=allow == "https",
            stdin=stdin,
            look=look,
        )
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
        return (
            self._ask("rev-parse", "--verify", f"{_revision(revision)}^{{commit}}").decode().strip()
        )

    def day(self, commit: str) -> date:
        """When a commit was made."""
        stated = (
            self._ask("show", "--no-patch", "--format=%cs", _revision(commit), "--")
            .decode()
            .strip()
        )
        return date.fromisoformat(stated.splitlines()[-1])

    def between(self, good: str, bad: str) -> tuple[str, ...]:
        """The commits after one up to another, oldest first, along first parents: what was merged
        counts as one.
        """
        words = ("rev-list", "--first-parent", "--reverse", f"^{self.commit(good)}")
        return tuple(self._ask(*words, self.commit(bad), "--").decode().split())

    def subject(self, commit: str) -> str:
        """The first line of a commit's message."""
        words = ("show", "--no-patch", "--format=%s", _revision(commit), "--")
        return self._ask(*words).decode(errors="replace").strip()

    def changed(self) -> tuple[str, ...]:
        """Files that differ from the commit that is checked out, or that it does not know."""
        how = (
            "--porcelain=v1",
            "-z",
            "--no-renames",
            _NO_SUBMODULES,
            "--untracked-files=all",
        )
        printed = self._ask("status", *how)
        return tuple(line[3:].decode(errors="replace") for line in printed.split(b"\0") if line)

    def export(
        self,
        revision: str,
        into: Path,
        *,
        most_bytes: int = 2 * 1024**3,
    ) -> None:
        """Write all files of a revision into an empty folder; links come out as plain files."""
        into.mkdir(parents=True, exist_ok=True)
        if any(into.iterdir()):
            raise InputError(f"The folder for the files of {revision} is not empty: {into}")
        with own_git_folder(of_untrusted(self.folder)) as git:
            (git / "index").unlink(missing_ok=True)
            ask = partial(run_git, git, into, wall_s=self.wall_s)
            ask(("read-tree", f"{_revision(revision)}^{{tree}}"))
            ask_bounded = partial(ask, look=bounded(into, most_bytes))
            try:
                ask_bounded(("checkout-index", "--all", "--force"))
            except InputError:
                # A partial clone lacks the content of some files; anyone who needs one of them will
                # say so.
                ask_bounded(
                    ("checkout-index", "--force", "-z", "--stdin"),
                    stdin=_readable(ask),
                )

    def _ask(self, *arguments: str) -> bytes:
        with own_git_folder(of_untrusted(self.folder)) as git:
            return run_git(git, self.folder, arguments, wall_s=self.wall_s)


def _readable(ask: Callable[..., bytes]) -> bytes:
    """Files of the index whose content is there, each with a NUL after it."""
    printed = ask(("ls-files", "--stage", "-z"))
    entries = [
        line.partition("\t") for line in printed.decode(errors="replace").split("\0") if line
    ]
    hashes = "".join(f"{head.split()[1]}\n" for head, _, _ in entries)
    kinds = (
        ask(("cat-file", "--batch-check=%(objecttype)"), stdin=hashes.encode())
        .decode()
        .splitlines()
    )
    there = [
        f"{name}\0" for (_, _, name), kind in zip(entries, kinds, strict=True) if kind == "blob"
    ]
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
    """Fetch one revision of a repository (its default branch when none is named) without its
    history.

    `local` allows a folder of this machine as address, for a repository the user named.
    """
    protocol = "https" if _HTTPS.fullmatch(address) else "file"
    if protocol == "file" and not (local and address.startswith("/") and Path(address).is_dir()):
        raise InputError(
            f"A repository is cloned from an https address only, received: address={address!r}",
            next_step=(
                "give the repository as https://HOST/PATH, or clone it yourself and name the folder"
            ),
        )
    if into.exists() and any(into.iterdir()):
        raise InputError(f"The folder to clone into is not empty: {into}")
    into.mkdir(parents=True, exist_ok=True)
    ask = partial(
        run_git,
        into / ".git",
        into,
        wall_s=wall_s,
        look=bounded(into, most_bytes, stop),
    )
    wanted = _revision(revision) if revision else "HEAD"
    fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
    try:
        ask(("init", "--quiet", "--template="))
        if protocol == "file":
            # The other end of a fetch is a git in that folder: it gets a git folder of ours, too.
            with own_git_folder(of_untrusted(Path(address))) as theirs:
                ask(
                    (*fetch, "--", str(theirs), wanted),
                    allow=protocol,
                )
        else:
            ask((*fetch, "--", address, wanted), allow=protocol)
        ask(("checkout", "--quiet", "--detach", "FETCH_HEAD"))
    except BaseException:
        remove_tree(into)
        raise
    return Repository(into)


def _revision(text: str) -> str:
    if not _REVISION.fullmatch(text) or ".." in text:
        raise InputError(f"This is not a revision of a repository: revision={text!r}")
    return text
