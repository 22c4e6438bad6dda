"""The nouns of this package: Run, Step, Cost, Artefact. One row of the file each, with its own
check sum.

A row's `check_sum` covers every other column (bodies through their digests), so that a flipped bit
is seen. Its `mac` covers the same with the user's key (signing.py), so that a row that somebody
else made is seen. A run also carries the number and the sum of its steps' check sums, so that a
lost step is seen too.

Also names and facts: the path and the key of a step, the id of a run, the machine, the clock. The
order of things never depends on machine and clock.
"""

import hashlib
import json
import os
import platform
import re
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, Self, cast

from reenact.journal.signing import Signer
from reenact.types import JsonValue

SUM = 1 << 63
PIPELINE = re.compile(r"[a-z][a-z0-9-]{0,31}")
SEGMENT = r"[A-Za-z0-9][A-Za-z0-9_.:+=@-]{0,119}(?:\[\d{1,9}\])?(?:~\d{1,9})?"
PATH = re.compile(rf"{SEGMENT}(?:/{SEGMENT}){{0,31}}")
RUN_ID = re.compile(r"\d{6}-[a-z0-9]{4,12}")
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""No letter that is read as another: i, l, o, 0 and 1 are left out."""


class Status(StrEnum):
    """The status of a run."""

    RUNNING = "running"
    """A process works on it, or died while it did."""
    FINISHED = "finished"
    """It has its verdict. The same command starts a new run."""
    FAILED = "failed"
    """An error ended it. The same command continues it."""
    STOPPED = "stopped"
    """The user or the budget stopped it. The same command continues it."""


class State(StrEnum):
    """The status of a step."""

    BEGUN = "begun"
    """The intent is written, no result is: the effect is in flight, or was when the process
    died.
    """
    DONE = "done"
    REUSED = "reused"
    """The result was taken from a finished run that had performed the same shared step."""
    FAILED = "failed"
    SUPERSEDED = "superseded"
    """The program asks for other inputs or another version at this path now; kept for the
    record.
    """


class Kind(StrEnum):
    """What sort of effect a step is."""

    LLM = "llm"
    BOX = "box"
    EDIT = "edit"
    TRIAL = "trial"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Cost:
    """What an effect cost."""

    money: Decimal | None = Decimal(0)
    """US dollars; none when the price is not known."""
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class Artefact:
    """Bytes kept next to the journal, by the hash of their content."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """What runs and steps share: columns in the order of the fields, and a check over them."""

    check_sum: int = 0
    mac: str = ""
    """Keyed hash over all other columns; empty when no one of this machine vouches for the row."""

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """In the order of the fields."""
        return tuple(cls.__dataclass_fields__)

    def values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.columns())

    def sealed(self, signer: Signer | None) -> Self:
        """The same row with the check sum it must have; without a signer it is no one's."""
        signed = replace(
            self,
            mac=signer.sign(*self._signed()) if signer else "",
        )
        return replace(signed, check_sum=check_of(signed.values()))

    def is_signed(self, signer: Signer) -> bool:
        """Whether this user wrote the row on this machine, just as it is."""
        return signer.holds(self.mac, *self._signed())

    def _signed(self) -> tuple[str, str]:
        return type(self).__name__.lower(), _content(self.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(_Row):
    """One execution of a pipeline, over all the times it was started and continued."""

    TABLE = "run_rows"
    KEY = "seq"
    NAME = "id"
    """The table, the column of its number, and the one that names it in an error."""
    WORDS = (("status", Status),)
    """Columns with one of a few words."""
    seq: int
    """Number in this journal; grows, whatever the clock does."""
    id: str
    """What people type: date and four letters."""
    pipeline: str
    what: str = ""
    """A few words for a list: the file, the paper's title."""
    request: str = "{}"
    """JSON: all that was asked for."""
    request_hash: str
    """The same pipeline with the same hash is the same command."""
    argv: str = "[]"
    """JSON: arguments of `reenact` that continue this run."""
    folder: str = ""
    """Working folder of the command."""
    fresh: int = 0
    """1 when no step of another run may be reused."""
    turn: int
    """The run with the highest turn is the one its command continues."""
    status: Status = Status.RUNNING
    exit_code: int | None = None
    verdict: str | None = None
    """JSON, once finished."""
    error_type: str | None = None
    error: str | None = None
    started_at: str = ""
    ended_at: str | None = None
    worked_s: float = 0.0
    """Seconds of work over all executions, by the monotonic clock."""
    executions: int = 1
    """Times it was started or continued."""
    steps: int = 0
    steps_sum: int = 0
    """Sum of the steps' check sums."""
    done: int = 0
    reused: int = 0
    failed: int = 0
    money: str = "0"
    """US dollars paid, as decimal text; reused steps cost nothing."""
    tokens_in: int = 0
    tokens_out: int = 0
    unpriced: int = 0
    """Steps whose price is not known."""
    version: str = ""
    python: str = ""
    host: str = ""
    boot: str = ""
    pid: int = 0
    imported: int = 0
    """1 when it came by `runs import`."""

    def request_data(self) -> JsonValue:
        return cast("JsonValue", json.loads(self.request))

    def verdict_data(self) -> JsonValue:
        return cast("JsonValue", json.loads(self.verdict or "null"))

    def command(self) -> tuple[str, ...]:
        """The arguments that continue this run."""
        return _listed(self.argv)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(_Row):
    """One memoised effect of a run."""

    TABLE = "step_rows"
    KEY = "number"
    NAME = "path"
    WORDS = (("kind", Kind), ("state", State))
    number: int
    """Row number in the journal."""
    run: int
    nr: int
    """Order in which the run began its steps, from 1."""
    path: str
    kind: Kind
    version: int
    key: str
    """Hash of path (of a shared step without its first word), version and inputs: two steps with
    the same key are the same step.
    """
    state: State
    tries: int = 1
    """Times the effect was begun."""
    started_at: str = ""
    ended_at: str | None = None
    duration_s: float = 0.0
    money: str | None = "0"
    tokens_in: int = 0
    tokens_out: int = 0
    reused_from: str | None = None
    """Id of the run that performed it."""
    error_type: str | None = None
    error: str | None = None
    error_next: str | None = None
    final: int = 0
    """1 when the failure stands for good and is raised again instead of performed again."""
    artefacts: str = "[]"
    """JSON: hashes of all artefacts that inputs and result refer to."""
    inputs_digest: str = ""
    result_digest: str = ""

    @property
    def has_result(self) -> bool:
        """Whether a result was ever written; a superseded step may have one."""
        return not is_digest(self.result_digest, "")

    def artefact_hashes(self) -> tuple[str, ...]:
        return _listed(self.artefacts)


UNENDED: dict[str, Any] = {"ended_at": None, "error": None, "error_type": None}
"""The columns of a run or a step that say how it ended, while it has not."""


def check_of(values: Sequence[Any]) -> int:
    """The check sum over a row's columns; the first column is the check sum itself and does not
    count. The second is the keyed hash: rows of journals from before it have none, and their check
    sums hold.
    """
    text = _content(values) + (json.dumps(values[1]) if values[1] else "")
    return (
        int.from_bytes(
            hashlib.blake2b(text.encode("ascii"), digest_size=8).digest(),
            "big",
        )
        % SUM
    )


def digest(body: str, size: int = 32) -> str:
    """The digest under which a body column is checked."""
    return hashlib.blake2b(body.encode("utf-8"), digest_size=size).hexdigest()


def is_digest(wanted: str, body: str) -> bool:
    """Whether this is the digest of the body; the first format of the journal had shorter ones."""
    return wanted == (digest(body, 12) if len(wanted) == 24 else digest(body))


def _content(values: Sequence[Any]) -> str:
    """One text for all columns but the check sum and the keyed hash."""
    return json.dumps(
        values[2:],
        ensure_ascii=True,
        separators=(",", ":"),
    )


def _listed(text: str) -> tuple[str, ...]:
    """The words of a list as JSON; none for anything else."""
    listed = json.loads(text)
    if isinstance(listed, list):
        return tuple(map(str, listed))
    return ()


def mark(text: str) -> str:
    """A paper or a report in a request, which is small: texts with the same mark are the same."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def canonical(value: JsonValue) -> str:
    """One text for one value, whatever the order its parts came in."""
    return json.dumps(
        value,
        sort_keys=True,
        ensure_ascii=True,
        allow_nan=False,
        separators=(",", ":"),
    )


def new_run_id(now: datetime) -> str:
    """The date for the eye, letters for the difference; order comes from the run's number."""
    return f"{now:%y%m%d}-{''.join(secrets.choice(LETTERS) for _ in range(4))}"


def hashed(value: JsonValue) -> str:
    """Two commands of one pipeline whose requests have the same hash are the same command, and two
    steps are the same whose path, version and inputs have it.
    """
    return hashlib.blake2b(canonical(value).encode("ascii"), digest_size=20).hexdigest()


class Clock:
    """Wall time to show, monotonic time to measure: those of this machine. Tests give their own."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def this_host() -> dict[str, Any]:
    """The machine and process we run in: `host` is a hash of the machine's name, which reports
    machines apart and names none; `boot` changes with every start of the machine.
    """
    name = hashlib.blake2b(platform.node().encode(), digest_size=6).hexdigest()
    boot = "unknown"
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return {
        "host": name,
        "boot": boot,
        "pid": os.getpid(),
        "python": platform.python_version(),
    }
