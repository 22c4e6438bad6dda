"""Starts every program that runs on the host, outside the sandbox. The only file that starts one.

    host      git, uv, pip, ruff, a container engine, nvidia-smi: programs that reenact itself needs
    launcher  what makes a box: bubblewrap, the reaper, a container engine's client
    user's    the user's own program, interpreter and browser, and a `command:` model that the user names
    own       reenact itself, in a process of its own (how: own_process.py)

A host program gets a closed environment, made from a list of names, and starts in `/`: most programs look for
configuration in the current folder and its parents, and every local user can write to the temporary folder.
What the program's own documentation says about configuration is switched off by its caller: git in
sandbox/repository.py, installers in sandbox/environments/installer_settings.py, ruff in
codegen/static_checks.py. What is left is the user's: the home folder, and variables for indexes, proxies and
certificates. Folders made for host programs come from `tempfile`: mode 0700, names that cannot be guessed.

The user's own program keeps the user's environment and folder: it runs as it would without reenact. A browser
keeps the environment alone.

Not covered: faults in the programs, and what root configured for the whole machine where a program has no
switch for it (certificates, the dynamic linker, a container engine's daemon).
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeAlias

from reenact.own_process import own_command, own_environment

Stream: TypeAlias = int | IO[bytes] | None
START_FOLDER = "/"
"""Root alone can write there, and it has no parents."""
MOST_PRINTED = 32 * 1024 * 1024
LOOK_S = 0.5
_ALWAYS = re.compile(r"HOME|LANG|LC_\w+")
_PROXIES = re.compile(r"(?:https?|all|no)_proxy|(?:HTTPS?|ALL|NO)_PROXY")
_NETWORK_FILES = frozenset(
    {
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "NETRC",
    }
)


def look_at_nothing() -> None:
    """For a program that nothing ends early."""


def absolute_path() -> str:
    """PATH without the entries that depend on the current folder: a `git` there is not the
    user's.
    """
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if Path(entry).is_absolute())


def find_program(name: str) -> str | None:
    """The program next to our interpreter, else the one that PATH gives; never one of the current
    folder.

    A path, which only the user can give, means itself.
    """
    if os.sep in name:
        return shutil.which(str(Path(name).absolute()))
    beside = Path(sys.executable).with_name(name)
    if beside.is_absolute() and os.access(beside, os.X_OK):
        return str(beside)
    return shutil.which(name, path=absolute_path())


def host_environment(
    more: Mapping[str, str] | None = None, *, network: bool = False
) -> dict[str, str]:
    """The closed environment of a host program. `network`: with the user's proxies and
    certificates.
    """
    environment = {
        "PATH": absolute_path(),
        "TMPDIR": tempfile.gettempdir(),
    }
    for name, value in os.environ.items():
        if _ALWAYS.fullmatch(name) or (network and _PROXIES.fullmatch(name)):
            environment[name] = value
        elif network and name in _NETWORK_FILES and value:
            # The program starts in another folder than the user, for whom a relative path was
            # right.
            environment[name] = str(Path(value).absolute())
    environment.update(more or {})
    return environment


def run_host_program(
    argv: Sequence[str],
    *,
    wall_s: float,
    variables: Mapping[str, str] | None = None,
    network: bool = False,
    stdin: bytes = b"",
    look: Callable[[], None] = look_at_nothing,
) -> subprocess.CompletedProcess[bytes]:
    """Run a host program to its end; TimeoutError when that takes too long, OSError when it cannot
    start.

    `variables` are its own, over those of `host_environment`. `look` is called twice a second and
    ends it by raising. What it prints goes through files, so that it never waits for us; at more
    than `MOST_PRINTED` bytes it is ended, and one byte more than that is returned. Ctrl-C reaches
    us alone: a program that gets it too ends with a complaint of its own.
    """
    until = time.monotonic() + wall_s
    with (
        tempfile.TemporaryFile() as fed,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        fed.write(stdin)
        fed.seek(0)
        running = start_host_program(
            argv,
            environment=host_environment(variables, network=network),
            stdin=fed,
            stdout=out,
            stderr=err,
        )
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    running.wait(LOOK_S)
                    break
                look()
                if (
                    max(os.fstat(out.fileno()).st_size, os.fstat(err.fileno()).st_size)
                    > MOST_PRINTED
                ):
                    break
                if time.monotonic() > until:
                    raise TimeoutError
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
        out.seek(0)
        err.seek(0)
        printed = out.read(MOST_PRINTED + 1)
        complaint = err.read(MOST_PRINTED + 1)
    return subprocess.CompletedProcess(argv, running.returncode, printed, complaint)


def start_host_program(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream = subprocess.DEVNULL,
    stderr: Stream = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start a host program in a session of its own, in `/`, with the closed environment."""
    return subprocess.Popen(  # noqa: S603 - a fixed program
        argv,
        cwd=START_FOLDER,
        env=host_environment() if environment is None else environment,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )


def start_launcher(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: str | Path,
    stdin: int,
    output: int,
    passed: Sequence[int],
) -> subprocess.Popen[bytes]:
    """Start what makes a box, with exactly this environment and these open files."""
    return subprocess.Popen(  # noqa: S603 - bubblewrap, the reaper or a container engine
        argv,
        cwd=folder,
        env=environment,
        stdin=stdin,
        stdout=output,
        stderr=output,
        pass_fds=passed,
        start_new_session=True,
    )


def start_users_program(
    argv: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream = None,
    stderr: Stream = None,
    in_child: Callable[[], None] | None = None,
) -> subprocess.Popen[bytes]:
    """Start the user's own program, or the program that the user named as a model.

    It is in the user's folder with the user's environment, unless the caller adds to that.
    `in_child` runs in the new process before the program does.
    """
    return subprocess.Popen(  # noqa: S603 - the user's own program, no shell
        argv,
        cwd=folder,
        env=environment,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        preexec_fn=in_child,
    )


def open_users_browser(address: str) -> subprocess.Popen[bytes]:
    """Open an address in the browser that the user's desktop or BROWSER names.

    Python's `webbrowser` asks and starts other programs for it, by their names: in a process of its
    own, so that neither an entry of PATH nor a browser depends on the current folder.
    """
    return start_users_program(
        [sys.executable, "-I", "-m", "webbrowser", address],
        folder=Path(START_FOLDER),
        environment={**os.environ, "PATH": absolute_path()},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def ask_users_interpreter(argv: Sequence[str], wall_s: float) -> subprocess.CompletedProcess[bytes]:
    """What the interpreter that the user chose prints. OSError, subprocess.TimeoutExpired."""
    return subprocess.run(  # noqa: S603 - the user's own interpreter
        argv,
        capture_output=True,
        timeout=wall_s,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def start_own_command(
    words: Sequence[str],
    *,
    folder: Path,
    variables: Mapping[str, str],
    stdout: Stream,
) -> subprocess.Popen[bytes]:
    """Start `reenact WORDS` in the background; both outputs go to `stdout`."""
    return subprocess.Popen(  # noqa: S603 - our own command line, no shell
        own_command(*words),
        cwd=folder,
        env={**own_environment(), **variables},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.STDOUT,
        # Ctrl-C in the terminal of a server is meant for the server alone.
        start_new_session=True,
    )


def run_own_command(
    words: Sequence[str], *, folder: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `reenact WORDS` to its end in this terminal's group, with what it printed."""
    return subprocess.run(  # noqa: S603 - our own command line, no shell
        own_command(*words),
        cwd=folder,
        env={**own_environment(), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def start_own_file(file: str, *, stdout: Stream) -> subprocess.Popen[bytes]:
    """Start a file of ours that needs the standard library alone; its input is a pipe."""
    return subprocess.Popen(  # noqa: S603 - isolated from the folder it is started in
        [sys.executable, "-I", "-S", file],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
