"""Bounds hold: the time of a command, of a training, and Ctrl-C at any moment, children
included.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from waiting import LONGEST_S, wait_until
from warm import warm_reenact

ENDLESS = """
import signal, subprocess, sys, threading, time
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
threading.Thread(target=time.sleep, args=(3000,)).start()
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3000)"])
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3000)"], start_new_session=True)
open("started", "w").close()
time.sleep(3000)
"""
GENEROUS = LONGEST_S
"""Seconds: far more than is promised, far less than for ever. The machine may be busy."""
WORD = "BOUNDS_TEST_OF"


COLD = (sys.executable, "-m", "reenact")


@contextmanager
def started(
    folder: Path,
    *words: str,
    stdin: int = subprocess.DEVNULL,
    program: tuple[str, ...] = COLD,
) -> Iterator[subprocess.Popen[str]]:
    """A command in a group of its own; every process below it carries a word in its environment."""
    environ = {
        **os.environ,
        WORD: str(folder),
        "REENACT_CACHE_DIR": str(folder / "cache"),
        "NO_COLOR": "1",
    }
    child = subprocess.Popen(
        [*program, *words],
        cwd=folder,
        env=environ,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        for number in alive(folder):
            os.kill(number, signal.SIGKILL)
        child.wait()


def alive(folder: Path) -> list[int]:
    """Every process that was started, directly or not, by a command of this folder."""
    mark = f"{WORD}={folder}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return [number for number in found if not _is_zombie(number)]


def _is_zombie(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    except OSError:
        return True


def wait_for(condition: Path) -> None:
    wait_until(condition.exists, f"{condition} to appear")


@pytest.mark.sample(2)
@pytest.mark.parametrize("option", [("--max-time", "5"), ("--training-time", "3")])
def test_a_program_that_does_not_end_is_ended_and_judged(
    tmp_path: Path, option: Sequence[str]
) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS, "utf-8")
    words = ("diagnose", "--output-format", "json", *option, "endless.py")
    with started(tmp_path, *words, program=(warm_reenact(),)) as child:
        out, complaint = child.communicate(timeout=GENEROUS)
        assert alive(tmp_path) == []
    assert child.returncode in (0, 3), complaint
    assert "did not end within" in json.dumps(json.loads(out))
    assert "Continue with" not in complaint
    assert "Traceback" not in complaint


@pytest.mark.release
def test_repair_without_a_training_that_ends_is_not_decided(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS, "utf-8")
    words = ("repair", "--max-time", "5", "endless.py")
    with started(tmp_path, *words, program=(warm_reenact(),)) as child:
        _, complaint = child.communicate(timeout=GENEROUS)
        assert alive(tmp_path) == []
    assert child.returncode == 3, complaint
    assert "Not decided" in complaint
    assert "Continue with" not in complaint


def test_the_time_of_the_command_ends_a_question_to_a_model(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text("import math\n", "utf-8")
    (tmp_path / "report.md").write_text("# It fails\n\nValueError is raised.\n", "utf-8")
    words = (
        "bug",
        "--model",
        "relay:asked",
        "--max-time",
        "4",
        "--repo",
        "project",
        "report.md",
    )
    with started(tmp_path, *words, program=(warm_reenact(),)) as child:
        _, complaint = child.communicate(timeout=GENEROUS)
    assert child.returncode == 3, complaint
    assert "--max-time" in complaint
    assert "Traceback" not in complaint


@pytest.mark.sample(4)
@pytest.mark.parametrize("whole_group", [False, True], ids=["process", "group"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_watched_program_that_ignores_it(
    tmp_path: Path, number: signal.Signals, whole_group: bool
) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS, "utf-8")
    with started(tmp_path, "diagnose", "endless.py") as child:
        wait_for(tmp_path / "started")
        (os.killpg if whole_group else os.kill)(child.pid, number)
        _, complaint = child.communicate(timeout=GENEROUS)
        assert alive(tmp_path) == []
    # Ctrl-C asks for a verdict, and there is nothing to judge; who sends SIGTERM does not wait for
    # one.
    assert child.returncode == (3 if number == signal.SIGINT else 130), complaint
    assert "Traceback" not in complaint


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS, "utf-8")
    with started(tmp_path, "watch", "endless.py") as child:
        wait_for(tmp_path / "started")
        child.send_signal(signal.SIGINT)
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        _, complaint = child.communicate(timeout=GENEROUS)
        assert alive(tmp_path) == []
    assert child.returncode == 130, complaint
    assert "Traceback" not in complaint


WAITING: dict[str, tuple[str, ...]] = {
    "standard input": ("bug", "--model", "relay:asked", "--repo", "project", "-"),
    "relay": ("bug", "--model", "relay:asked", "--repo", "project", "report.md"),
    "command": (
        "bug",
        "--model",
        "command:sleep 3000",
        "--repo",
        "project",
        "report.md",
    ),
    "mcp": ("mcp",),
    "view": ("view",),
    "seeds": ("mutate", "--kill", "--seeds", "1000", "slow.py"),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("what", WAITING)
@pytest.mark.parametrize("waits", [False, True], ids=["starts", "waits"])
def test_ctrl_c_ends_a_command_whatever_it_waits_for(
    tmp_path: Path, what: str, waits: bool
) -> None:
    """While its process starts, and when it waits, which one without imports does after a
    moment.
    """
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text("import math\n", "utf-8")
    (tmp_path / "report.md").write_text("# It fails\n\nValueError is raised.\n", "utf-8")
    (tmp_path / "slow.py").write_text(
        "import time\nlr = 0.1\nEPOCHS = 3\ntime.sleep(3000)\n", "utf-8"
    )
    program = (warm_reenact(),) if waits else COLD
    with started(tmp_path, *WAITING[what], stdin=subprocess.PIPE, program=program) as child:
        time.sleep(1.5 if waits else 0.2)
        os.killpg(child.pid, signal.SIGINT)
        child.wait(timeout=GENEROUS)
        assert alive(tmp_path) == []
        assert child.stderr is not None
        complaint = child.stderr.read()
    # Before our first line runs, the interpreter itself answers.
    if waits:
        assert "Traceback" not in complaint


def test_ctrl_c_ends_the_processes_of_lint_without_a_word_of_theirs(
    tmp_path: Path,
) -> None:
    for number in range(400):
        body = "\n".join(f"x{line} = torch.nn.Linear({line + 1}, 3)" for line in range(120))
        (tmp_path / f"part{number}.py").write_text(f"import torch\n{body}\n", "utf-8")
    with started(tmp_path, "lint", ".") as child:
        wait_until(
            lambda: len(alive(tmp_path)) >= 2 or child.poll() is not None,
            "the command to start its processes",
        )
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGINT)
        _, complaint = child.communicate(timeout=GENEROUS)
        assert alive(tmp_path) == []
    assert "Traceback" not in complaint


def test_the_time_of_the_command_ends_what_does_not_look_at_the_clock(
    tmp_path: Path,
) -> None:
    script = """
import socket
from reenact.cli.edge import guarded
from reenact.cli.ending import ENDING
from reenact.cli.calling import stopping_gently
import click

@click.command
def stuck():
    server = socket.create_server(("127.0.0.1", 0))
    with stopping_gently(0.5):
        socket.create_connection(server.getsockname()).recv(1)

ENDING.own()
ENDING.late_s = 0.5
raise SystemExit(ENDING.finish(guarded(stuck, [])))
"""
    ended = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=False,
    )
    assert ended.returncode == 3, ended.stderr
    assert "--max-time 0.5 s" in ended.stderr
    assert "Traceback" not in ended.stderr
