"""What a call of the API works with: settings, the journal, when to stop, who hears of progress,
model and sandbox.

Nothing is printed here unless the caller asks for it. What a user must know in any case (a weaker
sandbox) is a Python warning, or a line on stderr when the command line calls.
"""

from __future__ import annotations

import difflib
import subprocess
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypeVar

from reenact.api.options import File as File
from reenact.api.options import ungrouped
from reenact.errors import InputError, ended_by
from reenact.faults.confidence import Word
from reenact.settings import Settings, cache_folder, resolve
from reenact.types import Progress, Stop, Tell, tell_nobody

if TYPE_CHECKING:
    from reenact.diagnosis.services import DiagnoseServices
    from reenact.intake.papers.clients import Clients
    from reenact.intake.papers.paper import Paper
    from reenact.journal import Journal
    from reenact.llm.ask import Model
    from reenact.probe.terminal import Screen
    from reenact.program.program import Program
    from reenact.sandbox.box import BoxResult, Command, Limits, OnOutput, Sandbox
    from reenact.sandbox.environments.prepare import Environments

MOST_ADDENDUM = 4 << 20
"""Bytes: a book of notes."""
MOST_RUN_S = 31 * 86_400.0
FLAGS = (
    "python",
    "model",
    "max_time",
    "max_cost",
    "max_tokens",
    "max_calls",
    "sandbox",
    "trust_code",
)
"""Arguments of a call that are settings."""
S = TypeVar("S", bound="DiagnoseServices")
Words: TypeAlias = str | Sequence[str]
"""One word, several with commas, or a list of words."""
ShowProgress: TypeAlias = bool | Callable[[Progress], None]
"""True: lines or bars on stderr, as on the command line; a function: it gets each step of the
work.
"""
Cancel: TypeAlias = Stop | threading.Event | None
"""Set it from another thread to end a call at the next safe place."""
Output: TypeAlias = int | IO[bytes] | None
"""Where the output of the user's own program goes; none: nowhere."""
COMMAND: ContextVar[tuple[str, ...]] = ContextVar("reenact_command", default=())
"""The command line of this call, which the journal keeps to resume it; empty when Python calls."""
PROGRAM_STDIN: ContextVar[Output] = ContextVar("reenact_program_stdin", default=subprocess.DEVNULL)
"""What the user's program may read on its stdin; nothing when Python calls."""
NOTICE: ContextVar[Callable[[str], None]] = ContextVar("reenact_notice", default=warnings.warn)
"""Who hears what a user must know."""


@dataclass(frozen=True)
class Session:
    """One call: opened by `open_session`."""

    settings: Settings
    journal: Journal
    stop: Stop
    tell: Tell
    screen: Screen | None = None
    """The line on the terminal, where one is shown."""
    record: Path | None = None
    """File that keeps the answers of the model for `replay:`."""

    @property
    def traces(self) -> Path:
        """Folder below which traces are kept."""
        return self.settings.runs_dir / "traces"

    @property
    def cache(self) -> Path:
        """Folder of prepared environments and downloads."""
        return cache_folder(self.settings)

    def model(self) -> Model:
        """The model of the settings; raises ReenactError when it cannot be opened."""
        return model_for(
            self.settings,
            record=self.record,
            stop=self.stop,
            tell=self.tell,
        )

    def services(
        self,
        kind: type[S],
        *,
        output: Output = None,
        fresh: bool = False,
        model: str | None = None,
    ) -> S:
        """What a pipeline that trains needs from outside; the model of the settings where one
        was named.
        """
        from reenact.probe.answers import Answers

        return kind(
            journal=self.journal,
            traces=self.traces,
            tell=self.tell,
            stop=self.stop,
            argv=COMMAND.get(),
            screen=self.screen,
            answers=Answers(PROGRAM_STDIN.get()),
            # It speaks of Ctrl-C and of options: a word for the command line.
            notice=NOTICE.get() if COMMAND.get() else None,
            stdout=subprocess.DEVNULL if output is None else output,
            fresh=fresh,
            model=self.model() if model else None,
            sandbox=self.sandbox,
        )

    def sandbox(self, *, gpu: bool = False) -> Sandbox:
        """The sandbox of the settings; what it does not stop is reported. Its boxes end with
        the call. `gpu`: its programs may use the GPU of this machine.
        """
        return Stoppable(sandbox_for(self.settings, gpu=gpu), self.stop)

    def environments(self, box: Sandbox) -> Environments:
        """Interpreters with packages, prepared in the sandbox."""
        from reenact.sandbox.environments.prepare import Environments

        return Environments(
            self.cache / "environments",
            box=box,
            tell=self.tell,
            stop=self.stop,
        )

    def paper_clients(self, *, offline: bool = False) -> Clients:
        """The servers of papers, with the answers that were fetched before."""
        from reenact.intake.papers.clients import Clients

        return Clients.cached(self.cache / "papers", offline=offline)

    def paper(
        self,
        source: str,
        box: Sandbox | None = None,
        *,
        offline: bool = False,
    ) -> Paper:
        """The paper that the user names, parsed in the sandbox."""
        from reenact.intake.papers.read import read_paper

        return read_paper(
            source,
            box=box or self.sandbox(),
            clients=self.paper_clients(offline=offline),
        )


@contextmanager
def open_session(
    given: Mapping[str, Any],
    *,
    model_for: str = "",
) -> Iterator[Session]:
    """What the arguments of a call ask for: settings above all other layers, and what hangs on
    them.

    `given` are arguments of the call by name, options also in their groups; others than these are
    not looked at: the settings in `FLAGS`, `runs_dir`, `progress`, `cancel`, `trust_journal` and
    `record`. `model_for` says what a model is needed for, where a call cannot do without one.
    """
    from reenact.journal import Journal
    from reenact.report.progress import OnTerminal, telling

    given = ungrouped(given)
    runs_dir = given.get("runs_dir")
    record = given.get("record")
    flags = {name: given.get(name) for name in FLAGS}
    settings = resolve(
        {
            **flags,
            "runs_dir": None if runs_dir is None else Path(runs_dir),
        }
    ).settings
    if model_for and not settings.model:
        fix = "--model anthropic:NAME, openai:NAME, ollama:NAME, command:PROGRAM or relay:FOLDER."
        raise InputError(f"{model_for}, and none is named.", next_step=fix)
    # The call ends as its caller says, and when its time is up.
    cancel: Cancel = given.get("cancel")
    if isinstance(cancel, Stop):
        stop = cancel if cancel.limit is not None else Stop(settings.max_time, parent=cancel)
    else:
        stop = Stop(settings.max_time, event=cancel)
    with ExitStack() as stack:
        progress = given.get("progress", False)
        how = settings.progress if progress else "none"
        tell = stack.enter_context(nullcontext(progress) if callable(progress) else telling(how))
        journal = stack.enter_context(
            Journal.open(
                settings.runs_dir,
                trust=bool(given.get("trust_journal")),
            )
        )
        screen = tell.line if isinstance(tell, OnTerminal) else None
        yield Session(
            settings,
            journal=journal,
            stop=stop,
            tell=tell,
            screen=screen,
            record=None if record is None else Path(record),
        )


def paper_for(settings: Settings, source: str) -> Paper:
    """A paper read outside a run."""
    from reenact.intake.papers.clients import Clients
    from reenact.intake.papers.read import read_paper

    return read_paper(
        source,
        box=sandbox_for(settings),
        clients=Clients.cached(cache_folder(settings) / "papers"),
    )


def model_for(
    settings: Settings,
    *,
    record: Path | None = None,
    stop: Stop | None = None,
    tell: Tell = tell_nobody,
) -> Model:
    """The model of the settings within their limits; raises ReenactError when it cannot be
    opened.
    """
    from reenact.llm.budget import Budget
    from reenact.llm.live import open_model

    calls = settings.max_calls
    tokens = settings.max_tokens
    money = settings.max_cost
    budget = Budget(
        calls=calls,
        tokens=tokens,
        money=money,
        seconds=settings.max_time,
    )
    return open_model(
        settings.model,
        budget=budget,
        record_to=record,
        stop=stop,
        tell=tell,
    )


def sandbox_for(settings: Settings, *, gpu: bool = False) -> Sandbox:
    """The tier of the settings, and a word on what it does not stop."""
    from reenact.sandbox.choose import choose, choose_with_gpu, notice

    tier = (choose_with_gpu if gpu else choose)(
        None if settings.sandbox == "auto" else settings.sandbox,
        trust_code=settings.trust_code,
    )
    if weaker := notice(tier):
        NOTICE.get()(weaker)
    return tier


class Stoppable:
    """A sandbox whose boxes end when the command ends, also those of callers that do not look
    at a stop.
    """

    def __init__(self, within: Sandbox, stop: Stop) -> None:
        self.name = within.name
        self._within = within
        self._stop = stop
        self.missing = within.missing
        self.does_not_stop = within.does_not_stop

    def run(
        self,
        command: Command,
        limits: Limits,
        *,
        on_output: OnOutput | None = None,
        stop: Stop | None = None,
    ) -> BoxResult:
        """See `Sandbox.run`."""
        from reenact.sandbox.box import Ending

        result = self._within.run(
            command,
            limits,
            on_output=on_output,
            stop=stop or self._stop,
        )
        if stop is None and result.ending is Ending.CANCELLED:
            raise ended_by(self._stop, "Stopped while something ran in the sandbox.")
        return result


def addendum_text(file: File | None) -> str:
    """What adds to the paper; a file that is not text is refused in a sentence."""
    from reenact.files import read_text

    try:
        return read_text(Path(file), MOST_ADDENDUM) if file is not None else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"The addendum cannot be read as text: {error}. Received: {file}"
        ) from error


def within(name: str, value: float, least: float, most: float) -> None:
    """Refuse a number outside its bounds; NaN is outside of all."""
    if not least <= value <= most:
        raise InputError(
            f"{name} must be between {least:g} and {most:g}. Received: {name}={value}."
        )


def least_confidence(threshold: float | str) -> float:
    """The least confidence of a finding, given as a number or as the word for it."""
    if isinstance(threshold, str):
        return Word(one_of("threshold", threshold, list(Word))).least
    within("threshold", threshold, 0, 1)
    return threshold


def one_of(name: str, value: str, known: Sequence[str]) -> str:
    """Refuse a word that is not among the known ones."""
    if value not in known:
        near = difflib.get_close_matches(str(value), known, n=1)
        meant = f"Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"{name} is one of {', '.join(known)}. Received: {name}={value!r}.",
            next_step=meant,
        )
    return value


def words_of(given: Words, name: str) -> tuple[str, ...]:
    """The words of an argument that takes one or several."""
    if isinstance(given, str):
        return tuple(word.strip() for word in given.split(",") if word.strip())
    if not all(isinstance(word, str) for word in given):
        raise InputError(f"{name} must be a word or a list of words. Received: {name}={given!r}.")
    return tuple(given)


def names_of(given: Words, name: str) -> tuple[str, ...]:
    """The names of an argument that takes one or several; one word may hold several, between
    commas.
    """
    return tuple(part for word in words_of(given, name) for part in words_of(word, name))


def some_of(
    name: str,
    given: Words,
    known: Sequence[str],
) -> tuple[str, ...]:
    """The words of an argument, each among the known ones."""
    return tuple(one_of(name, word, known) for word in words_of(given, name))


def program_of(
    program: File | Sequence[str],
    arguments: Sequence[str],
    folder: File | None = None,
) -> Program:
    """The program that a caller names, with its own arguments, started in `folder`."""
    from reenact.program.program import read_program

    first = [str(program)] if isinstance(program, (str, Path)) else [str(word) for word in program]
    working = Path(folder).resolve() if folder is not None else None
    return read_program([*first, *map(str, arguments)], working)


def rules_of(select: Words, ignore: Words) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The detectors to use and to leave out; InputError for a word that names none."""
    from reenact.faults.registry import check_words

    selected = words_of(select, "select")
    ignored = words_of(ignore, "ignore")
    check_words((*selected, *ignored))
    return selected, ignored
