"""Names the ending of a watched program from its exit code, its exception and what was seen of it."""

from __future__ import annotations

import re
import signal as signals
from dataclasses import dataclass

from reenact.probe.outcome import Crash, Outcome, OutcomeKind

_DATA_ERRORS = frozenset(
    [
        "URLError",
        "HTTPError",
        "ConnectionError",
        "gaierror",
        "Timeout",
        "DatasetNotFoundError",
        "DataFilesNotFoundError",
        "LocalEntryNotFoundError",
        "OfflineModeIsEnabled",
        "NoSuchBucket",
    ]
)
_DATA_WORDS = re.compile(
    r"URL fetch failure|dataset not found|no such file or directory|could not find (?:the )?(?:data|file)|"
    r"You can use download=True|Resource \S+ not found|couldn't connect to|failed to download",
    re.IGNORECASE,
)
_WINDOW_WORDS = re.compile(
    r"no display name|couldn't connect to display|cannot connect to X server|highgui|"
    r"The function is not implemented",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known when a program has ended."""

    exit_code: int
    """Negative for a signal, as the standard library has it."""
    steps: int
    crash: Crash | None
    timed_out: bool = False
    interrupted: bool = False
    stopped: bool = False
    blind: bool = False
    """The probe switched itself off: no step seen says nothing."""
    limit: str = ""
    """The limit in words, when one was reached."""


def classify(facts: Facts) -> Outcome:
    """The outcome in one word, with its evidence."""
    if facts.timed_out:
        return Outcome(OutcomeKind.TIMEOUT, facts.exit_code, crash=facts.crash, note=facts.limit)
    if facts.interrupted or facts.exit_code == -signals.SIGINT or _is(facts.crash, "KeyboardInterrupt"):
        return Outcome(OutcomeKind.INTERRUPTED, facts.exit_code, signals.SIGINT, facts.crash)
    if facts.stopped:
        return Outcome(OutcomeKind.STOPPED, facts.exit_code, note=facts.limit)
    if facts.exit_code < 0:
        return Outcome(OutcomeKind.KILLED, facts.exit_code, -facts.exit_code, facts.crash)
    if facts.exit_code and facts.crash is not None:
        return _crashed(facts.exit_code, facts.crash)
    if facts.exit_code:
        return Outcome(OutcomeKind.EXITED, facts.exit_code)
    kind = OutcomeKind.FINISHED if facts.steps or facts.blind else OutcomeKind.NO_TRAINING
    return Outcome(kind, facts.exit_code)


def _crashed(code: int, crash: Crash) -> Outcome:
    kind, note = _kind(crash)
    return Outcome(kind, code, crash=crash, note=note)


def _kind(crash: Crash) -> tuple[OutcomeKind, str]:
    text = f"{crash.type}: {crash.message}"
    if _is(crash, "EOFError") and ("input(" in crash.source or "reading a line" in crash.message):
        return OutcomeKind.READS_STDIN, ""
    if _is(crash, "ModuleNotFoundError"):
        return OutcomeKind.NEEDS_PACKAGE, text + _other_engine(crash)
    if _is(crash, "TclError") or _WINDOW_WORDS.search(crash.message):
        return OutcomeKind.OPENS_WINDOW, text
    if _is(crash, "FileNotFoundError"):
        return OutcomeKind.NEEDS_DATA, crash.missing_file or text
    if _DATA_ERRORS & set(crash.bases) or _DATA_WORDS.search(crash.message):
        return OutcomeKind.NEEDS_DATA, text
    return OutcomeKind.CRASHED, ""


def _other_engine(crash: Crash) -> str:
    """Keras 3 can run on what is there, but has to be asked to."""
    if "'tensorflow" not in crash.message or not any("/keras/src/" in frame for frame in crash.frames):
        return ""
    return ". Keras asks for it unless it is set otherwise: KERAS_BACKEND=torch, where PyTorch is installed."


def _is(crash: Crash | None, name: str) -> bool:
    return crash is not None and name in crash.bases
