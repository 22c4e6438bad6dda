"""The one place where errors become sentences and exit codes."""

from __future__ import annotations

import errno
import os
import shlex
import sys
import traceback

import click

from reenact.errors import ReenactError, Stopped
from reenact.types import ExitCode

DISK_SENTENCES = {
    errno.ENOSPC: "The disk is full",
    errno.EROFS: "The file system is read-only",
    errno.EACCES: "There is no permission",
    errno.EDQUOT: "The disk quota is used up",
    errno.EIO: "The disk answers with an input/output error",
}


def guarded(command: click.Command, argv: list[str] | None = None) -> int:
    """Run a command and return its exit code; nothing but SystemExit(0) style codes leaves here."""
    argv = sys.argv[1:] if argv is None else argv
    try:
        result = command.main(args=list(argv), prog_name="reenact", standalone_mode=False)
        sys.stdout.flush()
        return int(result or ExitCode.OK)
    except click.ClickException as error:
        error.show(sys.stderr)
        return ExitCode.ERROR
    except (click.Abort, KeyboardInterrupt):
        return _stopped(argv, "Stopped.")
    except Stopped as error:
        return _stopped(argv, error.sentence)
    except ReenactError as error:
        say(error.sentence, error.next_step)
        return error.exit_code
    except BrokenPipeError:
        # The reader (a pager, `head`) has seen enough: keep Python from complaining at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except OSError as error:
        say(
            _disk_sentence(error),
            "Mend that, then run the same command: it continues where it stopped.",
        )
        return ExitCode.ERROR
    except Exception as error:  # noqa: BLE001
        return _defect(error)


def say(sentence: str, next_step: str = "") -> None:
    """An error, for a reader with a job."""
    from reenact.sandbox.files.plain_text import plain

    click.echo(f"reenact: {plain(sentence)}", err=True)
    if next_step:
        click.echo(f"next: {plain(next_step)}", err=True)


def _stopped(argv: list[str], sentence: str) -> int:
    say(sentence, f"Continue with: {shlex.join(['reenact', *argv])}")
    return ExitCode.STOPPED


def _disk_sentence(error: OSError) -> str:
    what = DISK_SENTENCES.get(error.errno or 0, error.strerror or type(error).__name__)
    return f"{what}. Received: {error.filename or 'an operation without a file name'}."


def _defect(error: Exception) -> int:
    if os.environ.get("REENACT_TRACEBACK"):
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    say(
        f"This is a defect of reenact: {type(error).__name__}: {error} ({last.name}, line {last.lineno}).",
        "Nothing recorded is lost. Set REENACT_TRACEBACK=1 and run it again to see the whole trace.",
    )
    return ExitCode.ERROR
