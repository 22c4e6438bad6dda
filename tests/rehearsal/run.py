"""One execution of the rehearsal as a process of its own, its effects counted in a ledger.

    python -m rehearsal.run FOLDER [--fresh]

The crash matrix and the demonstration start it, kill it (REENACT_CRASH_AT), and start it again.
"""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from reenact.journal import Journal
from reenact.llm.ask import Answer, Model, Request, T
from reenact.sandbox.box import BoxResult, Command, Limits, OnOutput, Sandbox
from reenact.types import Stop
from rehearsal.pipeline import Plan, Rehearsal, rehearse

PLAN = Plan(learning_rates=[2.5, 0.3], why="The loss hardly moves.")


class Ledger:
    """Counts what was really paid, in a file that only grows: each effect writes its own line
    first.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def pay(self, what: str) -> None:
        """One more effect was paid for."""
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            os.write(handle, f"{what}\n".encode())
            os.fsync(handle)
        finally:
            os.close(handle)


@dataclass(frozen=True, slots=True)
class PaidModel:
    """A model whose calls are counted."""

    model: Model
    ledger: Ledger

    @property
    def name(self) -> str:
        return self.model.name

    def ask(self, request: Request[T]) -> Answer[T]:
        self.ledger.pay(request.step)
        return self.model.ask(request)


class PaidSandbox:
    """A sandbox whose runs are counted by the step that the program is given."""

    def __init__(self, sandbox: Sandbox, ledger: Ledger) -> None:
        self.name = sandbox.name
        self._sandbox = sandbox
        self._ledger = ledger

    def run(
        self,
        command: Command,
        limits: Limits,
        *,
        on_output: OnOutput | None = None,
        stop: Stop | None = None,
    ) -> BoxResult:
        self._ledger.pay(command.argv[2])
        return self._sandbox.run(command, limits, on_output=on_output, stop=stop)

    def missing(self) -> str:
        return self._sandbox.missing()

    def does_not_stop(self) -> tuple[str, ...]:
        return self._sandbox.does_not_stop()


def rehearse_counted(
    folder: Path, *, sandbox: Sandbox | None = None, fresh: bool = False
) -> Rehearsal:
    """The rehearsal with a scripted model and the best sandbox here; `folder/ledger` has what
    was paid.
    """
    from reenact.llm.scripted import Scripted
    from reenact.sandbox.choose import choose

    folder.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(folder / "ledger")
    with Journal.open(folder / ".reenact") as journal:
        return rehearse(
            folder,
            journal=journal,
            model=PaidModel(Scripted({"rehearsal/plan": PLAN}), ledger),
            # The program is our own, so where no sandbox works it may run without one.
            sandbox=PaidSandbox(sandbox or choose(trust_code=True), ledger),
            fresh=fresh,
        )


def main(argv: list[str]) -> None:
    """Rehearse and print the outcome as JSON."""
    found = rehearse_counted(Path(argv[0]), fresh="--fresh" in argv)
    outcome = {"verdict": found.verdict, "before": found.before, "after": found.after}
    sys.stdout.write(json.dumps(outcome) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
