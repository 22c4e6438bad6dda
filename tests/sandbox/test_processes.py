from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reenact.sandbox.disk import deeply_nameless, open_nameless, written_bytes
from reenact.sandbox.processes import Descendants, descendants

PARENT = """
import os, sys, threading, time
for _ in range(2):
    if os.fork() == 0:
        break
held = bytearray(b"x") * (30 << 20)
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
print("up", flush=True)
time.sleep(600)
"""


@contextmanager
def started(program: str, lines: int, cwd: Path | None = None) -> Iterator[int]:
    """A process that runs a program and has printed so many lines; its number."""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=cwd,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        for _ in range(lines):
            assert process.stdout.readline()
        yield process.pid
    finally:
        os.killpg(process.pid, 9)
        process.wait()
        process.stdout.close()


def test_tasks_memory_and_time_of_a_tree() -> None:
    with started(PARENT, 3) as root:
        assert len(descendants(root)) == 2
        below = Descendants(root)
        use = below.use()
        anonymous, _ = below.true_memory()
        below.close()
    assert use.tasks == 4
    assert 60 << 20 <= use.memory_bytes < 200 << 20
    assert 60 << 20 <= anonymous <= use.memory_bytes + (1 << 20)
    assert use.cpu_s > 0


def test_forks_share_what_they_have_not_changed() -> None:
    program = PARENT.replace(
        "for _ in range(2)", "held = bytearray(b'x') * (50 << 20)\nfor _ in range(2)"
    ).replace('held = bytearray(b"x") * (30 << 20)', "")
    with started(program, 3) as root:
        below = Descendants(root)
        quick, (true, _) = below.use().memory_bytes, below.true_memory()
        below.close()
    assert quick > 100 << 20
    assert true < 60 << 20


HOLDER = """
import os, socket, sys, time
if os.fork() == 0:
    sink = os.open("nameless", os.O_CREAT | os.O_RDWR)
    os.unlink("nameless")
    os.write(sink, b"x" * (4 << 20))
    os.fsync(sink)
    if sys.argv[1:] == ["flying"]:
        near, far = socket.socketpair()
        socket.send_fds(near, [b"x"], [sink])
        os.close(sink)
    print("up", flush=True)
time.sleep(600)
"""


def test_files_without_a_name_are_found_while_open(tmp_path: Path) -> None:
    with started(HOLDER, 1, tmp_path) as root:
        below = Descendants(root)
        found = open_nameless(below)
        wrote = written_bytes(below)
        below.close()
    assert found.on(tmp_path.stat().st_dev) >= 4 << 20
    assert found.elsewhere(tmp_path.stat().st_dev) == 0
    if not _in_memory(tmp_path):
        assert wrote >= 4 << 20


def test_files_in_flight_are_noticed_though_their_size_is_not(tmp_path: Path) -> None:
    with started(HOLDER.replace('sys.argv[1:] == ["flying"]', "True"), 1, tmp_path) as root:
        below = Descendants(root)
        quick, deep = open_nameless(below), deeply_nameless(below, 0)
        below.close()
    assert quick.on(tmp_path.stat().st_dev) == 0
    assert deep.unsized


def test_a_plain_program_hides_nothing(tmp_path: Path) -> None:
    with started(PARENT, 3, tmp_path) as root:
        below = Descendants(root)
        found = deeply_nameless(below, 0)
        below.close()
    assert (found.sizes, found.unsized) == ({}, False)


def _in_memory(path: Path) -> bool:
    """Whether the test's own folder lies in memory, where nothing is ever written to a disk."""
    output = subprocess.run(
        ["stat", "-f", "-c", "%T", path], capture_output=True, text=True, check=True
    )
    return output.stdout.strip() in ("tmpfs", "ramfs")


def test_a_process_that_is_gone_is_nothing() -> None:
    with socket.socketpair()[0]:
        below = Descendants(2**22 + 1)
        assert below.use().tasks == 0
        below.close()
