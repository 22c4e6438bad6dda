"""The warm interpreter is like a fresh one where tests look: output, end, signals, environment."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from warm import warm_reenact

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SLEEPS = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"


@pytest.fixture
def run(warm_interpreter: str) -> Run:
    """`run(text, **given)`: a program text in the warm interpreter."""

    def ran(text: str, **given: object) -> subprocess.CompletedProcess[str]:
        options = {"capture_output": True, "text": True, "check": False} | given
        return subprocess.run([warm_interpreter, "-c", text], **options)  # type: ignore[call-overload, no-any-return]

    return ran


def test_torch_is_there_already_and_a_program_leaves_nothing_for_the_next(
    run: Run,
) -> None:
    text = "import sys; print('torch' in sys.modules, hasattr(sys, 'left')); sys.left = 1"
    assert [run(text).stdout, run(text).stdout] == ["True False\n"] * 2


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit('no')", 1, "no\n"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
        ("import os; os.kill(os.getpid(), 9)", -9, ""),
        ("import os; os.abort()", -6, ""),
    ],
)
def test_it_ends_as_its_program_does(run: Run, text: str, code: int, says: str) -> None:
    ended = run(text)
    assert ended.returncode == code
    assert ended.stderr.endswith(says)


def test_environment_and_folder_are_those_of_the_caller_also_to_others(
    run: Run, tmp_path: Path
) -> None:
    text = "import os; print(os.getcwd(), os.environ['MARK'], open('/proc/self/environ').read())"
    printed = run(text, cwd=tmp_path, env={"PATH": os.environ["PATH"], "MARK": "here"}).stdout
    assert printed.startswith(f"{tmp_path} here ")
    assert "MARK=here\0" in printed
    assert "WARM_SPACE" not in printed


def test_somebody_who_was_killed_before_saying_anything_does_not_stop_the_others(
    run: Run, warm_folder: Path
) -> None:
    assert run("print(1)").stdout == "1\n"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(warm_folder / "warm"))
    assert run("print(2)").stdout == "2\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_interpreter_ends_its_program(warm_interpreter: str, number: int) -> None:
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([warm_interpreter, "-c", SLEEPS], **quiet) as started:  # type: ignore[call-overload]
        program = psutil.Process(int(started.stdout.readline()))
        started.send_signal(number)
        assert started.wait() == -number
    while program.is_running():
        time.sleep(0.02)


@pytest.mark.parametrize("ignored", [True, False])
def test_what_the_caller_ignores_is_ignored(run: Run, ignored: bool) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    text = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    assert run(text, preexec_fn=ignore if ignored else None).stdout == f"{ignored}\n"


def test_a_command_has_folder_output_and_exit_code_of_its_own(tmp_path: Path) -> None:
    given = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
    first, second, third = (
        subprocess.run([warm_reenact(), *words], **given)  # type: ignore[call-overload]
        for words in (("lint", "train.py"), ("runs", "list"), ("runs", "list"))
    )
    assert (first.returncode, first.stdout) == (2, "")
    assert "does not exist" in first.stderr
    assert (second.returncode, second.stdout, second.stderr) == (0, third.stdout, "")
    assert "No runs recorded here" in second.stdout
