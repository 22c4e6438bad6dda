"""The sandbox that a verb uses, and what it does not stop, said once."""

from __future__ import annotations

from reenact.cli.options import echo
from reenact.errors import ended_by
from reenact.sandbox.box import BoxResult, Command, Ending, Limits, OnOutput, Sandbox
from reenact.sandbox.choose import choose, notice
from reenact.settings import Settings
from reenact.types import Stop


def chosen_sandbox(settings: Settings, stop: Stop | None = None) -> Sandbox:
    """The sandbox of the settings; what it does not stop is said. `stop` ends whatever runs in it."""
    name = None if settings.sandbox == "auto" else settings.sandbox
    chosen = choose(name, trust_code=settings.trust_code)
    if said := notice(chosen):
        echo(said, err=True)
    return chosen if stop is None else Stoppable(chosen, stop)


class Stoppable:
    """A sandbox whose boxes end when the command ends, also those of callers that do not look at a stop."""

    def __init__(self, within: Sandbox, stop: Stop) -> None:
        self.name = within.name
        self._within = within
        self._stop = stop

    def run(
        self, command: Command, limits: Limits, *, on_output: OnOutput | None = None, stop: Stop | None = None
    ) -> BoxResult:
        """See `Sandbox.run`."""
        result = self._within.run(command, limits, on_output=on_output, stop=stop or self._stop)
        if stop is None and result.ending is Ending.CANCELLED:
            raise ended_by(self._stop, "Stopped while something ran in the sandbox.")
        return result

    def missing(self) -> str:
        """See `Sandbox.missing`."""
        return self._within.missing()

    def does_not_stop(self) -> tuple[str, ...]:
        """See `Sandbox.does_not_stop`."""
        return self._within.does_not_stop()
