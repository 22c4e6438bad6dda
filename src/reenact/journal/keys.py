"""Names and facts: the path and the key of a step, the id of a run, the machine, the clock.

The order of things never depends on machine and clock.
"""

import hashlib
import json
import os
import platform
import re
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from reenact.errors import JournalError
from reenact.types import JsonValue

PIPELINE = re.compile(r"[a-z][a-z0-9-]{0,31}")
SEGMENT = r"[A-Za-z0-9][A-Za-z0-9_.:+=@-]{0,119}(?:\[\d{1,9}\])?(?:~\d{1,9})?"
PATH = re.compile(rf"{SEGMENT}(?:/{SEGMENT}){{0,31}}")
RUN_ID = re.compile(r"\d{6}-[a-z0-9]{4,12}")
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""No letter that is read as another: i, l, o, 0 and 1 are left out."""


def join(scope: str, name: str, attempt: int | None, sample: int | None) -> str:
    """`paper/method` and `debug` become `paper/method/debug[3]~1`: third attempt, first sample."""
    tail = "" if attempt is None else f"[{attempt}]"
    tail += "" if sample is None else f"~{sample}"
    path = f"{scope}/{name}{tail}"
    if not PATH.fullmatch(path):
        raise JournalError(
            f"A step's path is words of letters, digits and _.:+=@- joined by slashes. Received: {path!r}."
        )
    return path


def step_key(path: str, version: int, inputs: JsonValue) -> str:
    """Two steps with the same key are the same step. Large parts of the inputs count by their hash."""
    return hashed([path, version, inputs])


def mark(text: str) -> str:
    """A paper or a report in a request, which is small: texts with the same mark are the same."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def canonical(value: JsonValue) -> str:
    """One text for one value, whatever the order its parts came in."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def new_run_id(now: datetime) -> str:
    """The date for the eye, letters for the difference; order comes from the run's number."""
    return f"{now:%y%m%d}-{''.join(secrets.choice(LETTERS) for _ in range(4))}"


def hashed(value: JsonValue) -> str:
    """Two commands with the same pipeline whose requests have the same hash are the same command."""
    return hashlib.blake2b(canonical(value).encode("ascii"), digest_size=20).hexdigest()


@dataclass(frozen=True, slots=True)
class Host:
    """Who executes a run."""

    host: str
    """Hash of the machine's name: tells machines apart and names none."""
    boot: str
    """Changes with every start of the machine."""
    pid: int
    python: str


class Clock:
    """Wall time to show, monotonic time to measure: those of this machine. Tests give their own."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def this_host() -> Host:
    """The machine and process we run in."""
    name = hashlib.blake2b(platform.node().encode(), digest_size=6).hexdigest()
    return Host(host=name, boot=_boot(), pid=os.getpid(), python=platform.python_version())


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"
