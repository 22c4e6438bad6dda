"""Starts git, with settings of ours alone, bounded in time and size. The only file that does."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import InputError, MissingPart, ended_by
from reenact.types import Stop

MOST_OUTPUT = 32 * 1024 * 1024
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.symlinks=false",
    "core.untrackedCache=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "credential.helper=",
    "diff.external=",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "transfer.fsckObjects=true",
    "protocol.allow=never",
)
_ENVIRONMENT = {
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
_NETWORK = ("https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "SSL_CERT_FILE", "GIT_SSL_CAINFO")


@dataclass(frozen=True, slots=True)
class Bound:
    """What a clone may take while it runs."""

    most_bytes: int
    folder: Path
    stop: Stop | None

    def check(self) -> None:
        if self.stop is not None and self.stop.asked:
            raise ended_by(self.stop, "Cloning was stopped.")
        if _size(self.folder) > self.most_bytes:
            raise InputError(f"The repository is larger than {self.most_bytes} bytes.")


def _size(folder: Path) -> int:
    total = 0
    for inner, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(inner) / name).lstat().st_size
            except OSError:
                continue
    return total


def run_git(
    git: Path,
    tree: Path,
    arguments: tuple[str, ...],
    *,
    wall_s: float,
    allow: str = "",
    bound: Bound | None = None,
) -> bytes:
    """Run git with our settings alone and give what it prints. Every failure is an InputError."""
    program = shutil.which("git")
    if program is None:
        raise MissingPart("git is not installed.", next_step="apt install git")
    settings = (*_SETTINGS, *((f"protocol.{allow}.allow=always",) if allow else ()))
    argv = [program, *(part for setting in settings for part in ("-c", setting)), "--no-pager"]
    argv += [f"--git-dir={git}", f"--work-tree={tree}", *arguments]
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complaint:
        running = subprocess.Popen(  # noqa: S603 - a fixed program with settings of ours
            argv,
            cwd=tree,
            env=_environment(allow),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=complaint,
            start_new_session=True,
        )
        try:
            _wait(running, wall_s, bound)
        finally:
            _end(running)
        if running.returncode != 0:
            complaint.seek(0)
            lines = complaint.read(2000).decode(errors="replace").strip().splitlines()
            raise InputError(f"git {arguments[0]} failed: {lines[-1] if lines else running.returncode}")
        if printed.seek(0, os.SEEK_END) > MOST_OUTPUT:
            raise InputError(f"git {arguments[0]} printed more than {MOST_OUTPUT} bytes.")
        printed.seek(0)
        return printed.read()


def _environment(allow: str) -> Mapping[str, str]:
    made = {**_ENVIRONMENT, "PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    if allow == "https":
        made |= {name: os.environ[name] for name in _NETWORK if name in os.environ}
    return made


def _wait(running: subprocess.Popen[bytes], wall_s: float, bound: Bound | None) -> None:
    until = time.monotonic() + wall_s
    while True:
        try:
            running.wait(0.5)
        except subprocess.TimeoutExpired:
            if bound is not None:
                bound.check()
            if time.monotonic() > until:
                raise InputError(f"git did not end within {wall_s:g} s.") from None
        else:
            return


def _end(running: subprocess.Popen[bytes]) -> None:
    if running.poll() is None:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
