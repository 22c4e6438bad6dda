"""What a started command prints, into a file without secrets that only its owner reads.

A small process stands in between and redacts line by line. It ends when everybody who prints has ended, and
outlives whoever started it, as the command does. The file is locked until it is complete.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from reenact import redact
from reenact.journal.storage import make_folder, storage_named

PATIENCE_S = 3.0


@contextmanager
def redacted_log(path: Path) -> Iterator[IO[bytes]]:
    """A stream for a child's output; what comes through it is written to the new file `path`."""
    make_folder(path.parent, 0o700)
    with storage_named(path):
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(log, fcntl.LOCK_EX)
        writer = subprocess.Popen(  # noqa: S603 - our own file, isolated from the folder it is started in
            [sys.executable, "-I", "-S", str(redact.__file__)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    finally:
        os.close(log)
    assert writer.stdin is not None
    try:
        yield writer.stdin
    finally:
        writer.stdin.close()
        threading.Thread(target=writer.wait, daemon=True).start()


def wait_until_written(path: Path) -> None:
    """Until the last of an ended command is in its file, or somebody else still holds its output open."""
    ends = time.monotonic() + PATIENCE_S
    with path.open("rb") as log:
        while time.monotonic() < ends:
            try:
                fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.02)
            else:
                return
