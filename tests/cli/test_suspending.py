"""Ctrl-Z holds for a command and all that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from waiting import wait_until

COMMAND = """
import subprocess, sys
from reenact.cli.calling import stopping_gently
with stopping_gently() as stop:
    child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], start_new_session=True)
    open(sys.argv[2], "w").write(str(child.pid))
    sys.exit(child.wait())
"""
CHILD = "import sys; sys.stdin.readline()"


def test_the_program_stops_and_continues_with_the_command(tmp_path: Path) -> None:
    noted = tmp_path / "child"
    # A group of its own in this session, as a shell makes it: the system suspends no orphaned
    # group.
    command = subprocess.Popen(
        [sys.executable, "-c", COMMAND, CHILD, str(noted)],
        stdin=subprocess.PIPE,
        process_group=0,
    )
    try:
        wait_until(lambda: noted.exists() and noted.read_text(), "the program")
        child = psutil.Process(int(noted.read_text()))
        os.kill(command.pid, signal.SIGTSTP)
        both = (psutil.Process(command.pid), child)
        wait_until(
            lambda: all(one.status() == psutil.STATUS_STOPPED for one in both),
            "both to be suspended",
        )
        os.kill(command.pid, signal.SIGCONT)
        wait_until(
            lambda: all(one.status() != psutil.STATUS_STOPPED for one in both),
            "both to continue",
        )
        command.communicate(b"go on\n")
        assert command.returncode == 0
    finally:
        for number in (signal.SIGCONT, signal.SIGKILL):
            if command.poll() is None:
                os.kill(command.pid, number)
