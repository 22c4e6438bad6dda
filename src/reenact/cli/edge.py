"""The one place where errors become sentences and exit codes."""

import errno
import io
import os
import shlex
import shutil
import sys
import traceback
from pathlib import Path

import click

from reenact.errors import ReenactError, Stopped, TimeSpent
from reenact.plain import plain
from reenact.types import ExitCode

DISK_SENTENCES = {
    errno.ENOSPC: "The disk is full",
    errno.EROFS: "The file system is read-only",
    errno.EACCES: "There is no permission",
    errno.EDQUOT: "The disk quota is used up",
    errno.EIO: "The disk answers with an input/output error",
}
NO_ROOM = 64 * 1024
"""A disk with fewer free bytes than this is called full."""


def guarded(
    command: click.Command,
    argv: list[str] | None = None,
    *,
    name: str = "reenact",
) -> int:
    """Run a command and return its exit code; nothing but SystemExit(0) style codes leaves here."""
    if argv is None:
        argv = sys.argv[1:]
    try:
        result = command.main(
            args=list(argv),
            prog_name=name,
            standalone_mode=False,
        )
        sys.stdout.flush()
        return int(result or ExitCode.OK)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        click.echo(
            plain(shown.getvalue()),
            err=True,
            nl=False,
        )
        return ExitCode.ERROR
    except (click.Abort, KeyboardInterrupt):
        return _stopped(name, argv, "Stopped.")
    except ReenactError as error:
        if isinstance(error, Stopped) and not isinstance(error, TimeSpent):
            return _stopped(name, argv, error.sentence)
        say(error.sentence, error.next_step)
        return error.exit_code
    except BrokenPipeError:
        # The reader (a pager, `head`) has seen enough: keep Python from complaining at shutdown.
        os.dup2(
            os.open(os.devnull, os.O_WRONLY),
            sys.stdout.fileno(),
        )
        return ExitCode.OK
    except OSError as error:
        say(_disk_sentence(error), "Fix this and run the same command: it resumes.")
        return ExitCode.ERROR
    except Exception as error:  # noqa: BLE001
        if os.environ.get("REENACT_TRACEBACK"):
            traceback.print_exception(error)
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{error} ({last.name}, line {last.lineno})"
        after = (
            "Nothing recorded is lost. Set REENACT_TRACEBACK=1 and run it again to see the whole "
            "trace."
        )
        say(
            f"This is a defect of reenact: {type(error).__name__}: {where}.",
            after,
        )
        return ExitCode.ERROR


def say(sentence: str, next_step: str = "") -> None:
    """An error, for a reader with a job."""
    click.echo(
        f"reenact: {_indented(sentence)}",
        err=True,
    )
    if next_step:
        click.echo(
            f"next: {_indented(next_step)}",
            err=True,
        )


def _indented(text: str) -> str:
    """Further lines are further in, so that what a file name brings cannot pass for a line of
    ours.
    """
    return plain(text).replace("\n", "\n    ")


def _stopped(name: str, argv: list[str], sentence: str) -> int:
    say(
        sentence,
        f"Continue with: {name} {shlex.join(argv)}",
    )
    return ExitCode.STOPPED


def _disk_sentence(error: OSError) -> str:
    what = DISK_SENTENCES.get(
        error.errno or 0,
        error.strerror or type(error).__name__,
    )
    if error.filename:
        return f"{what}. Received: {error.filename}."
    # Where printing failed the innermost call is that of click, or the flush above.
    calls = traceback.extract_tb(error.__traceback__)
    if calls and calls[-1].name in (click.echo.__name__, guarded.__name__):
        return f"{what}. Received: standard output."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        # Of the folders that a command writes to.
        places = (
            Path.cwd(),
            Path(os.environ.get("TMPDIR") or "/tmp"),  # noqa: S108
            Path.home(),
        )
        full = [
            str(one) for one in places if one.is_dir() and shutil.disk_usage(one).free < NO_ROOM
        ]
        if full:
            return f"{what}. Folders without room: {', '.join(full)}."
    return f"{what}; the system does not say for which file."
