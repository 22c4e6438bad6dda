"""Every error a user can meet, as one tree.

ReenactError                      a sentence, what to do next, and an exit code
├── InputError                    what the user gave cannot be used
│   ├── NotAFile                  a FIFO, device, folder or endless file was named; also an OSError
│   ├── UnreadableToml            a text that is not TOML, or is nested or written so that no reader takes it
│   ├── SettingsError             a setting is unknown or has an impossible value
│   ├── UnknownModel              a model string no one understands
│   ├── UnreadableProgram         a training program that cannot be found, read or parsed
│   ├── UnreadableReport          a bug report that is not there, empty or no text
│   ├── UnreadablePaper           a paper that is not there, empty, locked or in no form that can be read
│   ├── UnreadableRepository      a repository, archive or commit that is not there or cannot be used
│   └── PatchRefused              a patch that does not fit its program
│       ├── UnknownHyperparameter           it names a hyperparameter or layer that is not there
│       ├── NotChangeable         this hyperparameter cannot take this value, or not alone
│       └── PatchConflict         two of its changes want the same place
├── MissingPart                   a package, key or program that is not here
│   ├── MissingExtra              an optional dependency: names the command that adds it
│   ├── MissingKey                a provider's key is not in the environment
│   └── SandboxUnavailable        no tier that may be trusted is on this machine
├── Unreachable                   a server on the network did not answer, or not now
├── SandboxFailed                 the box itself broke; says nothing about the program in it
├── ResultRefused                 what a box left behind may not be read: a link, too large, broken JSON
├── ModelError                    a model did not give a usable answer
│   ├── ModelRefused              the provider refuses for good (401, 403, content policy)
│   ├── PromptTooLong             the request does not fit the model's context
│   ├── ModelUnreachable          transient faults outlasted the patience we have
│   ├── AnswerUnusable            answers came, none fitted the asked-for type
│   └── ReplayMiss                the recording has no answer for this step
├── JournalError                  the record of a run cannot be used
│   ├── JournalDamaged            the file is broken and says where
│   ├── JournalDiverged           the code asks for another step than the one recorded
│   └── RunLocked                 another process works on this run
├── StorageError                  disk full, read-only, no permission
├── Inconclusive                  the work ended without a verdict (exit 3)
│   └── BudgetSpent               money, tokens, calls or time ran out
└── Stopped                       the user asked to stop (exit 130)
    └── TimeSpent                 the time of the command ran out or was ended; also a BudgetSpent (exit 3)

Only the edge (`cli/`) catches; everything below lets them rise.
"""

from reenact.installed import install_line, missing_module
from reenact.types import ExitCode, Stop


class ReenactError(Exception):
    """Base of the tree. `sentence` says what happened, `next_step` what to do about it."""

    exit_code: ExitCode = ExitCode.ERROR

    def __init__(self, sentence: str, *, next_step: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.next_step = next_step


class InputError(ReenactError):
    """What the user gave cannot be used."""


class NotAFile(InputError, OSError):
    """A FIFO, device, socket, folder or file without end where a file was expected. An OSError too, whose
    `strerror` says so, for readers that tell why a file of theirs cannot be read."""

    def __init__(self, sentence: str, reason: str) -> None:
        super().__init__(sentence, next_step="Name a plain file.")
        self.strerror = reason


class UnreadableToml(InputError):
    """A text that is not TOML, or is nested too deep or holds a number too large to be read."""


class SettingsError(InputError):
    """A setting is unknown or has an impossible value."""


class UnknownModel(InputError):
    """A model string no one understands."""


class UnreadableProgram(InputError):
    """A training program that cannot be found, read or parsed."""


class UnreadableReport(InputError):
    """A bug report that is not there, empty or no text."""


class UnreadablePaper(InputError):
    """A paper that is not there, empty, locked or in no form that can be read."""


class UnreadableRepository(InputError):
    """A repository, archive or commit that is not there or cannot be used."""


class PatchRefused(InputError):
    """A patch that does not fit its program."""


class UnknownHyperparameter(PatchRefused):
    """A change names a hyperparameter or layer that is not in the program."""


class NotChangeable(PatchRefused):
    """A hyperparameter cannot take this value, or not alone; the sentence says why."""


class PatchConflict(PatchRefused):
    """Two changes of one patch want the same place."""


class MissingPart(ReenactError):
    """A package, key or program that is not here."""


class MissingExtra(MissingPart):
    """An optional dependency is not installed; names the command that adds it to this installation."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"This needs the package {package}, which is not installed.",
            next_step=install_line(extra),
        )


def require(*extras: str) -> None:
    """Raises MissingExtra where a command lacks an extra: before its work, not in the middle of it."""
    for extra in extras:
        if module := missing_module(extra):
            raise MissingExtra(module, extra)


class MissingKey(MissingPart):
    """A provider's key is not in the environment."""


class SandboxUnavailable(MissingPart):
    """No tier that may be trusted is on this machine."""


class Unreachable(ReenactError):
    """A server on the network did not answer, or not now; the same command may succeed later."""


class SandboxFailed(ReenactError):
    """The box itself broke; says nothing about the program in it."""


class ResultRefused(ReenactError):
    """What a box left behind may not be read: a link, a device, too large, JSON made to harm its reader."""


class ModelError(ReenactError):
    """A model did not give a usable answer. `retryable` says whether asking again may help."""

    retryable: bool = False


class ModelRefused(ModelError):
    """The provider refuses for good."""


class PromptTooLong(ModelError):
    """The request does not fit the model's context; asking again helps only with a shorter one."""


class ModelUnreachable(ModelError):
    """Transient faults outlasted the patience we have."""

    retryable = True


class AnswerUnusable(ModelError):
    """Answers came, none fitted the asked-for type. `for_model` says what was wrong with the last one."""

    exit_code = ExitCode.INCONCLUSIVE

    def __init__(
        self,
        sentence: str,
        *,
        next_step: str = "",
        for_model: str = "",
    ) -> None:
        super().__init__(sentence, next_step=next_step)
        self.for_model = for_model


class ReplayMiss(ModelError):
    """The recording has no answer for this step."""


class JournalError(ReenactError):
    """The record of a run cannot be used."""


class JournalDamaged(JournalError):
    """The file is broken and says where."""


class JournalDiverged(JournalError):
    """The code asks for another step than the one recorded."""


class RunLocked(JournalError):
    """Another process works on this run."""


class StorageError(ReenactError):
    """Disk full, read-only, no permission."""


class Inconclusive(ReenactError):
    """The work ended without a verdict."""

    exit_code = ExitCode.INCONCLUSIVE


class BudgetSpent(Inconclusive):
    """Money, tokens, calls or time ran out."""


class Stopped(ReenactError):
    """The user asked to stop."""

    exit_code = ExitCode.STOPPED


class TimeSpent(Stopped, BudgetSpent):
    """The time of the whole command ran out, or the user ended it and wants a verdict: everything ends with a
    verdict on what was seen, or without one (exit 3)."""

    exit_code = ExitCode.INCONCLUSIVE


def ended_by(stop: Stop | None, sentence: str) -> Stopped:
    """The error for work that ends early: the user's wish, or the time of the whole command."""
    if stop is None or stop.by_user or not stop.time_is_up:
        return Stopped(sentence)
    if stop.verdict_asked:
        again = "Run the same command: it continues where it stopped."
        return TimeSpent(f"Stopped by you. {sentence}", next_step=again)
    return TimeSpent(
        f"The time of the whole command is up (--max-time {stop.limit:g} s). {sentence}",
        next_step=(
            "Give a larger --max-time and run the same command: it continues where it stopped."
        ),
    )
