"""How a watched program ended, in words that say what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reenact.types import Place


class OutcomeKind(StrEnum):
    """The ways a program can end."""

    FINISHED = "finished"
    CRASHED = "crashed"
    """An exception nobody caught."""
    EXITED = "exited"
    """The program itself chose a non-zero exit code."""
    NEEDS_DATA = "needs-data"
    """A file, data set or download that is not there."""
    NEEDS_PACKAGE = "needs-package"
    """A package that its interpreter does not have."""
    READS_STDIN = "reads-stdin"
    OPENS_WINDOW = "opens-window"
    TIMEOUT = "timeout"
    KILLED = "killed"
    """Ended by a signal from outside."""
    INTERRUPTED = "interrupted"
    """Ctrl-C."""
    NO_TRAINING = "no-training-seen"
    """It ran to its end, but no optimizer took a step."""
    STOPPED = "stopped"
    """The probe ended it on purpose: enough was seen."""
    NOT_STARTED = "not-started"
    """The interpreter or the script is not there."""


@dataclass(frozen=True, slots=True)
class LayerInput:
    """What a layer was given when it raised."""

    shape: tuple[int, ...]
    dtype: str
    device: str


@dataclass(frozen=True, slots=True)
class Crash:
    """The exception that ended a program."""

    type: str
    message: str
    place: Place | None
    """The innermost line of the user's own code."""
    source: str
    """The text of that line."""
    frames: tuple[str, ...]
    """The traceback, outermost first: `file:line in function`."""
    bases: tuple[str, ...] = ()
    """Names of the exception's class and its bases."""
    missing_file: str = ""
    layer: str = ""
    """Class of the layer whose forward pass raised, when one did."""
    layer_place: Place | None = None
    layer_inputs: tuple[LayerInput, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a watched program ended."""

    kind: OutcomeKind
    exit_code: int | None = None
    """The program's own exit code; none when it never started."""
    signal: int | None = None
    crash: Crash | None = None
    note: str = ""
    """What the kind alone does not say."""

    @property
    def sentence(self) -> str:
        """One sentence for a reader."""
        return _SENTENCES[self.kind].format(o=self, crash=self.crash or _NOTHING)


_NOTHING = Crash("", "", None, "", ())
_SENTENCES = {
    OutcomeKind.FINISHED: "The program ran to its end.",
    OutcomeKind.CRASHED: "The program ended with {crash.type} at {crash.place}: {crash.message}",
    OutcomeKind.EXITED: "The program ended itself with exit code {o.exit_code}.",
    OutcomeKind.NEEDS_DATA: "The program needs data that is not here: {o.note}",
    OutcomeKind.NEEDS_PACKAGE: "The program needs a package that its interpreter does not have: {o.note}",
    OutcomeKind.READS_STDIN: "The program waits for the keyboard at {crash.place}, and there is none.",
    OutcomeKind.OPENS_WINDOW: "The program opens a window at {crash.place}, and there is no screen.",
    OutcomeKind.TIMEOUT: "The program did not end within {o.note}.",
    OutcomeKind.KILLED: "The program was killed by signal {o.signal}.",
    OutcomeKind.INTERRUPTED: "The program was interrupted.",
    OutcomeKind.NO_TRAINING: "The program ran to its end, but no training step was seen.",
    OutcomeKind.STOPPED: "The program was stopped on purpose after {o.note}.",
    OutcomeKind.NOT_STARTED: "The program was not started: {o.note}",
}
