"""A line below the output of real programs, on real terminals of several widths, replayed by an
emulator.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

import pytest

from terminals import OnTerminal, Replay, run_on_terminal

OUR_LINE = re.compile(r"\d+:\d\d left")
LINES = 60
DRIVER = """
import sys, time
from pathlib import Path
from reenact.host_program import start_users_program
from reenact.probe.terminal import ProgramTerminal
from reenact.report.progress import OnTerminal, telling
from reenact.types import Progress

with telling("auto") as tell:
    assert isinstance(tell, OnTerminal)
    with ProgramTerminal(tell.line, None, None, 0) as terminal:
        child = start_users_program(
            [sys.executable, sys.argv[1]],
            stdin=terminal.stdin,
            stdout=terminal.stdout,
            stderr=terminal.stderr,
        )
        terminal.started(child)
        step = 0
        while child.poll() is None:
            step += 1
            note = f"epoch 7/200, step {step}, loss 0.075, about 73 min left"
            tell(Progress("training", 6, 200, note, (4.0, 3.0, 2.0, 1.0), left=4380.0))
            time.sleep(0.02)
print("the report")
sys.exit(child.returncode)
"""
SEEN = """
import os, sys, time
from pathlib import Path

def until_seen(turn):
    "Wait until the test has seen our line next to what was printed so far."
    sys.stdout.flush()
    Path(os.environ["SEEN"], f"ask-{turn}").touch()
    for _ in range(60_000):
        if Path(os.environ["SEEN"], f"seen-{turn}").exists():
            return
        time.sleep(0.01)
    sys.exit("Our line was never shown.")
"""
PLAIN = """
for number in range(60):
    print(f"line {number:04d} of the program")
    if number in (5, 45):
        until_seen(number)
"""
SLOW_LINES = """
for number in range(60):
    print(f"line {number:04d} ", end="", flush=True)
    if number in (5, 45):
        until_seen(number)
    time.sleep(0.005)
    print("of the program", flush=True)
"""
RETURNS = """
from tqdm import tqdm
print("line 0000 of the program")
for number in tqdm(range(60), mininterval=0, desc="fit"):
    if number in (5, 45):
        until_seen(number)
    if number % 10 == 3:
        tqdm.write(f"line {number // 10 + 1:04d} of the program")
print("line 0007 of the program")
"""
NESTED = """
from tqdm import tqdm
print("line 0000 of the program")
for epoch in tqdm(range(4), mininterval=0, desc="epochs", position=0):
    for batch in tqdm(range(15), mininterval=0, desc="batches", position=1, leave=False):
        if (epoch, batch) in ((0, 5), (3, 5)):
            until_seen(epoch)
print()
print("line 0001 of the program")
"""
LIVE = """
from rich.progress import Progress
with Progress() as progress:
    first = progress.add_task("fit", total=60)
    second = progress.add_task("val", total=60)
    for number in range(60):
        progress.update(first, advance=1, refresh=True)
        progress.update(second, advance=1, refresh=True)
        if number in (5, 45):
            until_seen(number)
        if number % 10 == 3:
            progress.console.print(f"line {number // 10:04d} of the program")
print("line 0006 of the program")
"""
COLOURS = """
assert sys.stdout.isatty() and sys.stderr.isatty() and os.environ["TERM"] == "xterm-256color"
for number in range(60):
    stream = (sys.stderr, sys.stdout)[number % 2]
    print(f"\\x1b[3{number % 8}mline {number:04d} of the program", end="\\x1b[0m\\n", file=stream, flush=True)
    if number in (5, 45):
        until_seen(number)
"""
FAST = """
for number in range(5000):
    print(f"line {number:04d} of the program")
until_seen(0)
"""
SILENT = """
until_seen(0)
"""
PROGRAMS = {
    "plain prints": (PLAIN, 60),
    "prints without an end of line": (SLOW_LINES, 60),
    "tqdm": (RETURNS, 8),
    "nested bars": (NESTED, 2),
    "rich progress": (LIVE, 7),
    "colours on both streams": (COLOURS, 60),
    "5,000 lines at once": (FAST, 5000),
    "nothing": (SILENT, 0),
}


def our_lines(rows: list[str]) -> list[str]:
    return [row for row in rows if OUR_LINE.search(row)]


class Watching:
    """Looks at every piece, and answers a program that waits until our line was seen."""

    def __init__(
        self, folder: Path, columns: int, rows: int, beginnings: Sequence[str] = ()
    ) -> None:
        self.folder = folder
        self.beginnings = beginnings
        """Of rows that must be seen at the same time."""
        self.replay = Replay(columns, rows)
        self.fed = 0
        self.seen: list[str] = []
        self.while_waiting: list[list[str]] = []
        """The screens on which the program was seen waiting."""

    def __call__(self, terminal: int, so_far: bytes, process: subprocess.Popen[bytes]) -> None:
        self.replay.feed(so_far[self.fed :])
        self.fed = len(so_far)
        ours = our_lines(self.replay.shown)
        if not ours:
            return
        self.seen += ours
        # What the program wrote before it waits may still be on its way: look again at the next
        # piece.
        shown = self.replay.shown
        if not all(any(row.startswith(begins) for row in shown) for begins in self.beginnings):
            return
        for asked in list(self.folder.glob("ask-*")):
            self.while_waiting.append(self.replay.shown)
            asked.rename(self.folder / asked.name.replace("ask", "seen"))


def run_program(
    text: str, folder: Path, columns: int, rows: int, beginnings: Sequence[str] = ()
) -> tuple[OnTerminal, Watching]:
    program = folder / "program.py"
    program.write_text(SEEN + text)
    driver = folder / "driver.py"
    driver.write_text(DRIVER)
    watching = Watching(folder, columns, rows, beginnings)
    ran = run_on_terminal(
        [sys.executable, str(driver), str(program)],
        columns=columns,
        rows=rows,
        environment={"SEEN": str(folder)},
        on_piece=watching,
    )
    return ran, watching


@pytest.mark.sample(12)
@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_line_of_the_program_is_there_once_and_whole(
    name: str, columns: int, tmp_path: Path
) -> None:
    text, count = PROGRAMS[name]
    ran, watching = run_program(text, tmp_path, columns, rows=16)

    def at_most_one(replay: Replay) -> None:
        assert len(our_lines(replay.shown)) <= 1, replay.shown

    # The history is long in one of them: looked at once, at the end.
    replay = ran.replay(at_most_one)
    rows = replay.all_rows
    assert ran.exit_code == 0, rows[-16:]
    expected = [f"line {number:04d} of the program" for number in range(count)]
    assert [row for row in rows if "of the program" in row] == expected
    assert our_lines(rows) == []
    assert rows.count("the report") == 1
    assert watching.seen
    assert all("epoch 7/200" in line for line in watching.seen)
    assert all(re.search(r"1:1[23]:\d\d left$", line) for line in watching.seen)


@pytest.mark.parametrize("name", ["tqdm", "nested bars", "rich progress"])
def test_a_bar_of_the_program_ends_on_one_row(name: str, tmp_path: Path) -> None:
    text, _ = PROGRAMS[name]
    bars = [bar for bar in ("fit", "val", "epochs", "batches") if f'"{bar}"' in text]
    assert bars
    ran, watching = run_program(text, tmp_path, columns=80, rows=16, beginnings=bars)
    rows = ran.replay().all_rows
    # The program ends otherwise where our line was never seen together with every bar.
    assert ran.exit_code == 0
    assert watching.while_waiting
    for bar in bars:
        complete = [row for row in rows if row.startswith(bar)]
        assert len(complete) == (0 if bar == "batches" else 1), rows
        assert all("100%" in row for row in complete)
    for screen in watching.while_waiting:
        assert OUR_LINE.search([row for row in screen if row][-1]), screen


def test_our_own_messages_appear_above_the_line(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from reenact.report.progress import telling\n"
        "from reenact.types import Progress\n"
        "with telling('auto') as tell:\n"
        "    tell(Progress('training', 6, 200, 'epoch 7/200, about 73 min left', left=4380.0))\n"
        "    print('a', 'message', file=sys.stderr)\n"
        "    tell.line.pass_on(b'half a line')\n"
        "    print('another', file=sys.stderr)\n"
        "    print('no end', end='', file=sys.stderr)\n"
        "print('the report')\n"
    )
    ran = run_on_terminal([sys.executable, str(script)], columns=80)
    rows = [row for row in ran.replay().all_rows if row]
    assert rows == ["a message", "half a line", "another", "no end", "the report"]


INTERRUPTED = """
import sys
from reenact.report.terminal_line import line_on_terminal

asked = 0

def text(columns):
    # As a signal that comes while its thread draws: its answer is printed in the middle of that.
    global asked
    asked += 1
    if asked in (4, 7):
        print("short", file=sys.stderr)
    return f"a long line that says {asked} times how much is done"

with line_on_terminal() as line:
    line.pass_on(sys.argv[1].encode())
    for _ in range(5):
        line.show(text)
print("the report")
"""


@pytest.mark.parametrize("printed", ["", "half a line", "a whole line\n"])
def test_a_message_in_the_middle_of_a_drawing_leaves_no_rest_of_the_line(
    printed: str,
) -> None:
    ran = run_on_terminal([sys.executable, "-c", INTERRUPTED, printed], columns=80)
    rows = [row for row in ran.replay().all_rows if row]
    assert rows == [*printed.splitlines(), "short", "short", "the report"]


def echoes(terminal: int) -> bool:
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


ASKS = """
print("line 0000 of the program")
answer = input("How many? ")
print("line 0001 of the program")
import getpass
secret = getpass.getpass("Token: ")
print(f"line 0002 of the program got {answer} and {secret[::-1]}")
"""


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_the_program_reads_the_keyboard_and_echoes_where_it_writes(
    columns: int, tmp_path: Path
) -> None:
    program, driver = tmp_path / "program.py", tmp_path / "driver.py"
    program.write_text(ASKS)
    driver.write_text(DRIVER)
    keys = [(b"How many? ", b"4\x7f3\r"), (b"Token: ", b"abc\r")]
    echoed: list[bool] = []

    def answer(terminal: int, so_far: bytes, process: subprocess.Popen[bytes]) -> None:
        if keys and keys[0][0] in so_far and b"left" in so_far:
            echoed.append(echoes(terminal))
            os.write(terminal, keys.pop(0)[1])

    ran = run_on_terminal(
        [sys.executable, str(driver), str(program)],
        columns=columns,
        rows=16,
        on_piece=answer,
    )
    rows = [row for row in ran.replay().all_rows if row]
    assert ran.exit_code == 0, rows
    printed = [row for row in rows if "Warning" not in row]
    assert printed == [
        "line 0000 of the program",
        "How many? 3",
        "line 0001 of the program",
        "Token:",
        "line 0002 of the program got 3 and cba",
        "the report",
    ]
    # The system itself would echo past the line.
    assert echoed == [False, False]


WAITS_FOR_KEYS = """
import os, sys, time
from pathlib import Path
from reenact.report.progress import telling
from reenact.report.terminal_line import hidden_lines
from reenact.types import Progress

def wait_for(name):
    while not Path(os.environ["SEEN"], name).exists():
        time.sleep(0.01)

with telling("auto") as tell:
    tell(Progress("training", 6, 200, "epoch 7/200, about 73 min left", left=4380.0))
    wait_for("typed")
    with hidden_lines():
        print("suspended", file=sys.__stderr__, flush=True)
        wait_for("continued")
    wait_for("over")
print("the report", flush=True)
wait_for("end")
"""


def test_enter_does_not_tear_the_line_and_the_echo_comes_back(tmp_path: Path) -> None:
    echoed: dict[str, bool] = {}

    def look(terminal: int, so_far: bytes, process: subprocess.Popen[bytes]) -> None:
        if b" left" in so_far and "line" not in echoed:
            echoed["line"] = echoes(terminal)
            os.write(terminal, b"\r\rls\r")
            (tmp_path / "typed").touch()
        if b"suspended" in so_far and "suspended" not in echoed:
            echoed["suspended"] = echoes(terminal)
            (tmp_path / "continued").touch()
        if b" left" in so_far.partition(b"suspended")[2] and "continued" not in echoed:
            echoed["continued"] = echoes(terminal)
            (tmp_path / "over").touch()
        if b"the report" in so_far and "over" not in echoed:
            echoed["over"] = echoes(terminal)
            (tmp_path / "end").touch()

    ran = run_on_terminal(
        [sys.executable, "-c", WAITS_FOR_KEYS],
        columns=80,
        environment={"SEEN": str(tmp_path)},
        on_piece=look,
    )
    assert echoed == {
        "line": False,
        "suspended": True,
        "continued": False,
        "over": True,
    }
    assert [row for row in ran.replay().all_rows if row] == ["suspended", "the report"]
