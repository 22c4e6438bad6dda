"""Every exit code of the conventions, forced."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from reenact.cli.edge import guarded
from reenact.cli.ending import ENDING
from reenact.cli.main import reenact
from reenact.errors import BudgetSpent, InputError, MissingExtra, Stopped
from reenact.installed import install_line
from reenact.types import ExitCode
from waiting import LONGEST_S
from warm import warm_reenact


def command(action: object) -> click.Command:
    def callback() -> object:
        if isinstance(action, BaseException):
            raise action
        return action

    return click.Command("verb", callback=callback)


@pytest.mark.parametrize(
    ("action", "code"),
    [
        (None, 0),
        (ExitCode.OK, 0),
        (ExitCode.FOUND, 1),
        (ExitCode.INCONCLUSIVE, 3),
        (InputError("No."), 2),
        (MissingExtra("ray", "ray"), 2),
        (BudgetSpent("The money is spent."), 3),
        (Stopped("Stopped."), 130),
        (KeyboardInterrupt(), 130),
        (click.UsageError("wrong"), 2),
        (OSError(errno.ENOSPC, "No space left on device", "journal.db"), 2),
        (ZeroDivisionError("division by zero"), 2),
    ],
)
def test_exit_code(action: object, code: int) -> None:
    assert guarded(command(action), []) == code


def test_an_error_is_a_sentence_and_the_next_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guarded(command(MissingExtra("ray", "ray")), [])
    output = capsys.readouterr().err
    assert "needs the package ray" in output
    assert install_line("ray") in output
    assert "Traceback" not in output


def test_a_full_disk_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    guarded(command(OSError(errno.ENOSPC, "No space left on device", "journal.db")), [])
    assert "The disk is full. Received: journal.db." in capsys.readouterr().err


FULL = """
import os, subprocess, sys
import click
from reenact.cli.edge import guarded
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", sys.argv[1]], check=True)
os.chdir(sys.argv[1])

@click.command()
def fill():
    with open("some.txt", "wb") as file:
        file.write(bytes(1 << 20))

sys.exit(guarded(fill, []))
"""


def test_a_full_disk_without_a_file_name_is_found_by_its_folder(tmp_path: Path) -> None:
    for way in (["unshare", "-m"], ["unshare", "-Urm"]):
        command_line = [*way, sys.executable, "-c", FULL, str(tmp_path)]
        ran = subprocess.run(command_line, capture_output=True, text=True, check=False)
        if ran.returncode == 2:
            break
    else:
        pytest.skip("this machine lets us mount nothing")
    assert f"The disk is full. Folders without room: {tmp_path}." in ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_printing_to_a_full_disk_says_so() -> None:
    program = "import click, sys; from reenact.cli.edge import guarded; echo = click.echo\n"
    program += "@click.command()\ndef verb(): echo('x' * 100)\n"
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-c", program + "sys.exit(guarded(verb, []))"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ran.returncode == 2
    assert "The disk is full. Received: standard output." in ran.stderr


def test_an_error_of_the_disk_without_a_file_name_says_that_it_has_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guarded(command(OSError(errno.EIO, "Input/output error")), [])
    output = capsys.readouterr().err
    assert (
        "The disk answers with an input/output error; the system does not say for which file."
        in output
    )


def test_a_defect_says_so_without_a_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guarded(command(ZeroDivisionError("division by zero")), [])
    output = capsys.readouterr().err
    assert "This is a defect of reenact: ZeroDivisionError" in output
    assert "Traceback" not in output


def test_stopping_prints_the_command_that_continues(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guarded(command(Stopped("Stopped after step 3.")), [])
    assert "Continue with: reenact" in capsys.readouterr().err
    guarded(command(Stopped("Stopped.")), [], name="python -m benchmarks")
    assert "Continue with: python -m benchmarks" in capsys.readouterr().err


def test_escape_sequences_in_a_message_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guarded(command(InputError("name \x1b]52;c;aGk=\x07 and \x1b[31mred\x1b[0m")), [])
    assert "\x1b" not in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = subprocess.run(
        (
            f"{sys.executable} -m reenact config --output-format json | head -c 1; exit "
            f"${{PIPESTATUS[0]}}"
        ),
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        check=False,
    )
    assert process.returncode == 0
    assert b"Traceback" not in process.stderr


def test_the_first_ctrl_c_asks_and_the_second_stops_at_once(tmp_path: Path) -> None:
    script = tmp_path / "verb.py"
    script.write_text(
        "import sys, time, click\n"
        "from reenact.cli.edge import guarded\n"
        "from reenact.cli.calling import stopping_gently\n"
        "@click.command()\n"
        "def verb():\n"
        "    with stopping_gently() as stop:\n"
        "        print('ready', flush=True)\n"
        "        while not stop.asked: stop.wait(0.05)\n"
        "        print('asked', flush=True)\n"
        "        while True: time.sleep(0.05)\n"
        "sys.exit(guarded(verb, []))\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGINT)
    _, output = process.communicate(timeout=LONGEST_S)
    assert process.returncode == ExitCode.STOPPED
    assert "Press Ctrl-C again" in output
    assert "Continue with: reenact" in output


def test_help_imports_neither_torch_nor_a_model_library() -> None:
    process = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "reenact", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {
        line.rsplit("|", 1)[-1].strip().split(".")[0] for line in process.stderr.splitlines()
    }
    assert "click" in imported
    assert not imported & {
        "torch",
        "keras",
        "numpy",
        "pydantic",
        "pydantic_ai",
        "rich",
        "httpx",
    }


@pytest.mark.parametrize("argv", [["nonsense"], ["config", "--nonsense"], ["explain"]])
def test_wrong_usage_is_exit_2(argv: list[str]) -> None:
    process = subprocess.run([warm_reenact(), *argv], capture_output=True, text=True, check=False)
    assert process.returncode == ExitCode.ERROR
    assert "Usage:" in process.stderr
    assert process.stdout == ""


WAITS = """import pathlib, time
pathlib.Path("started").touch()
while True:
    time.sleep(0.05)
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("diagnose", "waits.py"), 3),
        (("repair", "waits.py"), 3),
        (("view",), 0),
        (("mcp",), 0),
        (("demo",), 130),
    ],
)
def test_ctrl_c_ends_every_command_without_a_traceback(
    tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    (tmp_path / "waits.py").write_text(WAITS)
    child = subprocess.Popen(
        [sys.executable, "-m", "reenact", *words],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    first = b""
    if "waits.py" in words:
        while not (tmp_path / "started").exists():
            assert child.poll() is None
            time.sleep(0.05)
    elif words == ("mcp",):
        asked = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}
        child.stdin.write(json.dumps(message).encode() + b"\n")
        child.stdin.flush()
        first = child.stdout.readline()
    else:
        while not first.strip():
            first = child.stdout.readline()
    # As a terminal does it: everybody in the foreground gets the signal.
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate()
    # A server that is only about to start ends as every other command does.
    assert child.returncode in {code, 130}, err
    assert b"Traceback" not in first + out + err


@pytest.mark.parametrize(("signals", "code"), [(0, ExitCode.ERROR), (1, ExitCode.OK)])
def test_tasks_that_fail_after_ctrl_c_are_no_defect(
    monkeypatch: pytest.MonkeyPatch, signals: int, code: ExitCode
) -> None:
    def serve(*_: object) -> None:
        raise ExceptionGroup("unhandled errors", [RuntimeError("closed")])

    monkeypatch.setattr("reenact.mcp.server.serve", serve)
    monkeypatch.setattr(ENDING, "_signals", signals)
    monkeypatch.setattr(ENDING, "children_go_on", False)
    assert guarded(reenact, ["mcp"]) == code


@pytest.mark.parametrize("name", ["bench", "train-detector"])
def test_a_command_that_moved_answers_with_where_it_went(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(reenact, [name]) == ExitCode.ERROR
    assert "python -m benchmarks" in capsys.readouterr().err
