"""One transaction in the making: steps change, and the run's row keeps account of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from reenact.journal.codec import Body, dumped
from reenact.journal.records import SUM, Cost, Kind, Run, State, Step, digest
from reenact.journal.rows import next_number, put_step, set_step
from reenact.journal.signing import Signer


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A step that the program asks for."""

    path: str
    kind: Kind
    version: int
    key: str
    inputs: object
    """What is written down as its inputs."""
    shared: bool = False
    """A finished run of this journal may have its result."""


@dataclass(slots=True)
class Known:
    """The steps of a run as the file has them."""

    by_key: dict[str, Step]
    at: dict[str, Step]
    """The step that stands at a path now; superseded ones are only in `by_key`."""

    def learn(self, step: Step) -> None:
        self.by_key[step.key] = step
        if step.state is not State.SUPERSEDED:
            self.at[step.path] = step


class Writing:
    """Collects what changes. The caller commits, then learns `changed`."""

    def __init__(
        self, connection: sqlite3.Connection, run: Run, known: Known, now: str, signer: Signer
    ) -> None:
        self.run = run
        self.changed: dict[str, Step] = {}
        self._connection = connection
        self._known = known
        self._now = now
        self._signer = signer
        self._number = next_number(connection, "step_rows")

    def begin(self, wanted: StepRequest, inputs: Body) -> Step:
        """The intent; a second one for a step that was begun before and has no result."""
        old = self._known.by_key.get(wanted.key)
        if old is None:
            return self.insert(wanted, State.BEGUN, inputs)
        self._supersede(wanted)
        return self.put(
            replace(
                old,
                state=State.BEGUN,
                tries=old.tries + 1,
                started_at=self._now,
                ended_at=None,
                error=None,
                error_type=None,
                error_next=None,
                final=0,
            )
        )

    def insert(
        self,
        wanted: StepRequest,
        state: State,
        inputs: Body,
        result: str = "",
        reused_from: str | None = None,
    ) -> Step:
        """A step that the run did not have."""
        self._supersede(wanted)
        step = Step(
            number=self._number,
            run=self.run.seq,
            nr=self.run.steps + 1,
            path=wanted.path,
            kind=wanted.kind,
            version=wanted.version,
            key=wanted.key,
            state=state,
            started_at=self._now,
            ended_at=None if state is State.BEGUN else self._now,
            reused_from=reused_from,
            artefacts=dumped(list(inputs.artefacts)),
            inputs_digest=digest(inputs.text),
            result_digest=digest(result),
        ).sealed(self._signer)
        put_step(self._connection, step, inputs.text, result)
        self._number += 1
        self._account(None, step)
        return step

    def done(self, step: Step, result: Body, cost: Cost, took_s: float) -> Step:
        """The result of a step that was begun."""
        hashes = dict.fromkeys((*step.artefact_hashes(), *result.artefacts))
        whole = replace(
            _charged(step, cost),
            state=State.DONE,
            ended_at=self._now,
            duration_s=step.duration_s + took_s,
            artefacts=dumped(list(hashes)),
            result_digest=digest(result.text),
        )
        return self.put(whole, result.text)

    def revive(self, wanted: StepRequest, step: Step) -> Step:
        """A superseded result that is asked for again."""
        self._supersede(wanted)
        return self.put(replace(step, state=State.REUSED if step.reused_from else State.DONE))

    def put(self, step: Step, result: str | None = None) -> Step:
        """The new state of a step that the run has."""
        old = self.changed.get(step.key) or self._known.by_key[step.key]
        new = step.sealed(self._signer)
        set_step(self._connection, old, new, result)
        self._account(old, new)
        return new

    def _supersede(self, wanted: StepRequest) -> None:
        old = self._known.at.get(wanted.path)
        if old is not None and old.key != wanted.key:
            self.put(replace(old, state=State.SUPERSEDED))

    def _account(self, old: Step | None, new: Step) -> None:
        before = _shares(old) if old else dict.fromkeys(_shares(new), 0)
        counted = {name: getattr(self.run, name) + part - before[name] for name, part in _shares(new).items()}
        paid_before = Decimal((old.money if old else None) or 0)
        self.run = replace(
            self.run,
            **counted,
            money=str(Decimal(self.run.money) + Decimal(new.money or 0) - paid_before),
            steps=self.run.steps + (old is None),
            steps_sum=(self.run.steps_sum + new.check_sum - (old.check_sum if old else 0)) % SUM,
        )
        self.changed[new.key] = new


def _charged(step: Step, cost: Cost) -> Step:
    """The step with this cost on top of what earlier tries cost."""
    known = step.money is not None and cost.money is not None
    return replace(
        step,
        money=str(Decimal(step.money or 0) + (cost.money or 0)) if known else None,
        tokens_in=step.tokens_in + cost.tokens_in,
        tokens_out=step.tokens_out + cost.tokens_out,
    )


def _shares(step: Step) -> Mapping[str, int]:
    """What one step adds to the run's counters."""
    return {
        "done": int(step.state is State.DONE),
        "reused": int(step.state is State.REUSED),
        "failed": int(step.state is State.FAILED),
        "tokens_in": step.tokens_in,
        "tokens_out": step.tokens_out,
        "unpriced": int(step.money is None),
    }
