"""The terminal of a watched program: what of it is ours, its size, and streams that stay apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reenact.probe.terminal import ProgramTerminal
from terminals import run_on_terminal, set_size
from waiting import wait_until


class Collected:
    """A screen on this terminal that keeps what is passed on; stdin is another one."""

    has_keyboard = False

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.data = b""

    def pass_on(self, data: bytes) -> None:
        self.data += data

    def send_keys_to(self, program: Callable[[bytes], None] | None) -> None:
        raise AssertionError(program)


def run(screen: Collected, text: str, stdout: int | None, stderr: int | None) -> int:
    with ProgramTerminal(screen, stdout, stderr) as terminal:
        child = subprocess.Popen(
            [sys.executable, "-c", text],
            stdout=terminal.stdout,
            stderr=terminal.stderr,
            start_new_session=True,
        )
        terminal.started(child)
        return child.wait()


@pytest.fixture
def terminal() -> object:
    ours, theirs = os.openpty()
    set_size(ours, 91, 31)
    yield theirs
    os.close(ours)
    os.close(theirs)


def test_bytes_arrive_unchanged_and_in_order(terminal: int) -> None:
    screen = Collected(terminal)
    text = (
        "import sys, os\n"
        "assert sys.stdout.isatty() and sys.stderr.isatty()\n"
        "os.write(1, b'one\\n'); os.write(2, b'two\\r'); os.write(1, b'\\xff\\x1b[3')\n"
        "os.write(1, b'1m' + b'x' * 100_000)\n"
    )
    assert run(screen, text, terminal, terminal) == 0
    assert screen.data == b"one\ntwo\r\xff\x1b[31m" + b"x" * 100_000


def test_its_size_is_ours_less_the_row_of_the_line(terminal: int) -> None:
    screen = Collected(terminal)
    assert run(screen, "import os; print(*os.get_terminal_size(1))", terminal, terminal) == 0
    assert screen.data == b"91 30\n"


def test_a_stream_that_is_piped_stays_that_pipe(terminal: int, tmp_path: Path) -> None:
    screen = Collected(terminal)
    text = (
        "import sys\n"
        "print(sys.stdout.isatty(), sys.stderr.isatty())\n"
        "print('to the terminal', file=sys.stderr)\n"
    )
    with (tmp_path / "out").open("wb") as file:
        assert run(screen, text, file.fileno(), terminal) == 0
    assert (tmp_path / "out").read_bytes() == b"False True\n"
    assert screen.data == b"to the terminal\n"


def test_nothing_is_made_without_a_terminal_or_a_screen(terminal: int) -> None:
    assert ProgramTerminal(None, 1, 2).stdout == 1
    there = ProgramTerminal(Collected(terminal), subprocess.DEVNULL, subprocess.DEVNULL)
    assert (there.stdout, there.stderr) == (subprocess.DEVNULL, subprocess.DEVNULL)


def test_a_change_of_size_reaches_the_program(terminal: int) -> None:
    screen = Collected(terminal)
    text = (
        "import os, signal, sys\n"
        "def changed(*_):\n"
        "    print(*os.get_terminal_size(1), flush=True)\n"
        "    os._exit(0)\n"
        "signal.signal(signal.SIGWINCH, changed)\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    signal.pause()\n"
    )
    with ProgramTerminal(screen, terminal, terminal) as made:
        child = subprocess.Popen(
            [sys.executable, "-c", text],
            stdout=made.stdout,
            stderr=made.stderr,
            start_new_session=True,
        )
        made.started(child)
        wait_until(lambda: b"ready" in screen.data, "the program")
        set_size(terminal, 60, 20)
        wait_until(lambda: child.poll() is not None, "the end of the program")
    assert screen.data == b"ready\n60 19\n"


def test_a_process_that_outlives_the_program_does_not_hold_us_up(terminal: int) -> None:
    screen = Collected(terminal)
    text = (
        "import os, time\nprint('before', flush=True)\nif os.fork() == 0:\n    "
        "time.sleep(600)\nos._exit(0)\n"
    )
    with ProgramTerminal(screen, terminal, terminal) as made:
        child = subprocess.Popen(
            [sys.executable, "-c", text],
            stdout=made.stdout,
            stderr=made.stderr,
            start_new_session=True,
        )
        made.started(child)
        child.wait()
    os.killpg(child.pid, 9)
    assert screen.data == b"before\n"


WATCHES = """
import json, sys
from pathlib import Path
from reenact.cli.calling import stdin_for_programs
print(json.dumps(stdin_for_programs()))
"""


def test_a_program_gets_the_keyboard_in_front_and_not_in_the_background() -> None:
    piped = subprocess.run(
        [sys.executable, "-c", WATCHES],
        input=b"answers\n",
        stdout=subprocess.PIPE,
        check=True,
    )
    assert json.loads(piped.stdout) == 0
    in_front = run_on_terminal([sys.executable, "-c", WATCHES], columns=80)
    assert json.loads(b"".join(in_front.pieces)) == 0
    # Another group of processes has the terminal's keyboard.
    behind = run_on_terminal(
        [
            sys.executable,
            "-c",
            f"import os; os.fork() and os._exit(os.wait()[1])\nos.setpgid(0, 0)\n{WATCHES}",
        ],
        columns=80,
    )
    assert json.loads(b"".join(behind.pieces)) == subprocess.DEVNULL
