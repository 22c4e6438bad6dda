"""How a watched program ended: named from its exit code, its exception and what was seen of it."""

import re
import signal as signals
from dataclasses import dataclass
from enum import StrEnum

from reenact.probe.crash import PROGRAM, PYTHON, Crash


class OutcomeKind(StrEnum):
    """The ways a program can end."""

    FINISHED = "finished"
    CRASHED = "crashed"
    """An exception no one caught."""
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


BY_USER = "stopped by you"
CUT_OFF = (OutcomeKind.TIMEOUT, OutcomeKind.INTERRUPTED)
"""The program was ended before it was done: what was seen of its training is only the beginning."""


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
    python: str = ""
    """The interpreter, where a package is missing in it."""

    @property
    def stand_in_exists(self) -> bool:
        """Whether the data that is not here has a stand-in which was not asked for."""
        return self.kind is OutcomeKind.NEEDS_DATA and _STAND_IN in self.note

    @property
    def by_user(self) -> bool:
        """Whether the user ended it and asked for a verdict on what was seen."""
        return self.kind is OutcomeKind.INTERRUPTED and self.note == BY_USER

    @property
    def sentence(self) -> str:
        """One sentence for a reader."""
        if self.by_user:
            return f"The program was {BY_USER}."
        return _SENTENCES[self.kind].format(
            o=self,
            crash=self.crash or _NOTHING,
            python=self.python or "its interpreter",
            printed=f": {self.note}" if self.note else "",
        )


_NOTHING = Crash("", "", None, "", ())
_SENTENCES = {
    OutcomeKind.FINISHED: "The program ran to its end.",
    OutcomeKind.CRASHED: "The program ended with {crash.type} at {crash.place}: {crash.message}",
    OutcomeKind.EXITED: "The program ended itself with exit code {o.exit_code}{printed}.",
    OutcomeKind.NEEDS_DATA: "The program needs data that is not here: {o.note}",
    OutcomeKind.NEEDS_PACKAGE: "The program needs a package that {python} does not have: {o.note}",
    OutcomeKind.READS_STDIN: (
        "The program waits for the keyboard at {crash.place}, and there is none."
    ),
    OutcomeKind.OPENS_WINDOW: (
        "The program opens a window at {crash.place}, and there is no screen."
    ),
    OutcomeKind.TIMEOUT: "The program did not end within {o.note}.",
    OutcomeKind.KILLED: "The program was killed by signal {o.signal}.",
    OutcomeKind.INTERRUPTED: "The program was interrupted.",
    OutcomeKind.NO_TRAINING: "The program ran to its end, but no training step was seen.",
    OutcomeKind.STOPPED: "The program was stopped on purpose after {o.note}.",
    OutcomeKind.NOT_STARTED: "The program was not started: {o.note}",
}
READ_KEYS = ("getpass", "cmd", "code")
"""Modules of Python that read the keyboard."""
LONGEST_NOTE = 400
OTHER_PYTHON = "Pass --python PATH, or activate the environment that has it."
_ENGINE = (
    "Keras asks for it unless it is set otherwise: KERAS_BACKEND=torch, where PyTorch is installed."
)
_DATA_ERRORS = frozenset(
    {
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
    }
)
_DATA_WORDS = re.compile(
    r"URL fetch failure|dataset not found|no such file or directory|could not find (?:the "
    r")?(?:data|file)|"
    r"You can use download=True|Resource \S+ not found|couldn't connect to|failed to download",
    re.IGNORECASE,
)
_WINDOW_WORDS = re.compile(
    r"no display name|couldn't connect to display|cannot connect to X server|highgui|"
    r"The function is not implemented",
    re.IGNORECASE,
)


def classify(
    exit_code: int,
    crash: Crash | None,
    *,
    trained: bool,
    timed_out: bool = False,
    interrupted: bool = False,
    verdict_asked: bool = False,
    stopped: bool = False,
    limit: str = "",
    python: str = "",
) -> Outcome:
    """The outcome in one word, with its evidence.

    `exit_code` is negative for a signal, as the standard library has it; `trained` is true also
    when the probe switched itself off and cannot know; `verdict_asked`: the user ended it to have
    it judged; `limit` is the limit in words, when one was reached; `python` is the interpreter.
    """
    if timed_out:
        return Outcome(OutcomeKind.TIMEOUT, exit_code, crash=crash, note=limit)
    if (
        interrupted
        or exit_code == -signals.SIGINT
        or (crash is not None and crash.is_a("KeyboardInterrupt"))
    ):
        note = BY_USER if verdict_asked else ""
        return Outcome(
            OutcomeKind.INTERRUPTED,
            exit_code,
            signals.SIGINT,
            crash,
            note=note,
        )
    if stopped:
        return Outcome(OutcomeKind.STOPPED, exit_code, note=limit)
    if exit_code < 0:
        return Outcome(OutcomeKind.KILLED, exit_code, -exit_code, crash)
    if crash is not None and crash.is_a("SystemExit") and crash.facts.exit_code != exit_code:
        # It was asked for, and the program went on.
        crash = None
    if exit_code and crash is not None and crash.is_a("SystemExit") and crash.facts.by == PROGRAM:
        # Its own choice is not a crash.
        return Outcome(OutcomeKind.EXITED, exit_code, note=_of_own_exit(crash))
    if exit_code and crash is not None:
        kind, note = _kind(crash)
        used = python if kind is OutcomeKind.NEEDS_PACKAGE else ""
        return Outcome(kind, exit_code, crash=crash, note=note, python=used)
    if exit_code:
        return Outcome(OutcomeKind.EXITED, exit_code)
    return Outcome(OutcomeKind.FINISHED if trained else OutcomeKind.NO_TRAINING, exit_code)


def _kind(crash: Crash) -> tuple[OutcomeKind, str]:
    text = f"{crash.type}: {crash.message}"
    if crash.is_a("SystemExit"):
        return OutcomeKind.EXITED, crash.message.rstrip(".")
    if reads_keyboard(crash):
        return OutcomeKind.READS_STDIN, ""
    if crash.is_a("ModuleNotFoundError") and not lacks_a_part(crash):
        keras = "'tensorflow" in crash.message and any(
            "/keras/src/" in frame for frame in crash.frames
        )
        return (
            OutcomeKind.NEEDS_PACKAGE,
            f"{text}. {_ENGINE if keras else OTHER_PYTHON}",
        )
    if crash.is_a("TclError"):
        return OutcomeKind.OPENS_WINDOW, text
    if crash.is_a("FileNotFoundError") or (crash.missing_file and not crash.is_a("OSError")):
        return OutcomeKind.NEEDS_DATA, (crash.missing_file or text) + beside(crash)
    if crash.is_a(*_DATA_ERRORS):
        return OutcomeKind.NEEDS_DATA, _data_set(crash) + text
    # Words decide nothing where the program itself wrote them.
    if crash.facts.by == PROGRAM:
        return OutcomeKind.CRASHED, ""
    if _WINDOW_WORDS.search(crash.message):
        return OutcomeKind.OPENS_WINDOW, text
    if _DATA_WORDS.search(crash.message):
        return OutcomeKind.NEEDS_DATA, _data_set(crash) + text
    return OutcomeKind.CRASHED, ""


def lacks_a_part(crash: Crash) -> bool:
    """Whether the package is there, and only a module inside it is not: in another version it
    was.
    """
    return crash.is_a("ModuleNotFoundError") and crash.facts.subject not in (
        "",
        PROGRAM,
        PYTHON,
    )


def _of_own_exit(crash: Crash) -> str:
    """What the program printed when it ended itself, else the line that did."""
    where = f" ({crash.place})" if crash.place is not None else ""
    message = " ".join(crash.message.split())
    return f"{message[:LONGEST_NOTE] or crash.source}{where}"


def reads_keyboard(crash: Crash) -> bool:
    """Whether the end of the input came out of `input`, `getpass`, or a debugger."""
    if crash.is_a("BdbQuit"):
        return True
    if not crash.is_a("EOFError"):
        return False
    inner = crash.facts.inner
    if inner is not None:
        return crash.facts.call == "input" or inner.module in READ_KEYS
    return "input(" in crash.source or "reading a line" in crash.message


def beside(crash: Crash) -> str:
    """What there is where a file is missing, as the end of a sentence."""
    facts = crash.facts
    if facts.folder_exists is None:
        return ""
    if not facts.folder_exists:
        return " (its folder does not exist)"
    if facts.nearest:
        return f" (the folder has {facts.nearest})"
    return " (the folder exists)"


_STAND_IN = "--stand-in-data of diagnose and repair gives made-up data of the same shapes"
_STAND_INS = {
    "keras": (
        "mnist",
        "fashion_mnist",
        "cifar10",
        "cifar100",
        "imdb",
        "reuters",
        "boston_housing",
        "california_housing",
    ),
    "torchvision": ("mnist", "cifar"),
    "sklearn": ("california_housing", "openml"),
}
"""Modules of data sets that `inject/reenact_probe/standin.py` has a stand-in for, by library."""
_LOADERS = re.compile(r"/(?:(keras)/src|(torchvision)|(sklearn))/datasets/_?(\w+)\.py:")


def _data_set(crash: Crash) -> str:
    """The data set of a library that could not be downloaded, by name."""
    for loader in filter(None, map(_LOADERS.search, crash.frames)):
        library = loader[1] or loader[2] or loader[3]
        name = loader[4]
        if name not in ("utils", "base", "vision", "folder"):
            # Not where the injected code was asked already, and has none.
            asked = any(frame.module == "reenact_probe.standin" for frame in crash.facts.stack)
            there = name in _STAND_INS[library] and (
                name != "openml" or "mnist_784" in crash.source
            )
            offer = f"; {_STAND_IN}" if there and not asked else ""
            return (
                f"the data set {name} of {library}, which must be downloaded "
                f"({crash.place}){offer}. "
            )
    return ""
