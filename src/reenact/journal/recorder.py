"""The hand that writes one run: intents, results, failures, each in one transaction with the run's
own row.

What is in memory changes only after the file has it. The run's lock makes this the only writer of
its rows; threads of this process take turns.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from reenact.errors import JournalDiverged, JournalError, ReenactError
from reenact.journal.artefacts import named
from reenact.journal.codec import Bodies, Body, Flattening, dumped
from reenact.journal.database import Database
from reenact.journal.records import (
    SUM,
    UNENDED,
    Clock,
    Cost,
    Kind,
    Run,
    State,
    Status,
    Step,
    digest,
    hashed,
)
from reenact.journal.rows import next_number, put_row, read_body, read_rows, set_row
from reenact.journal.signing import Signer
from reenact.types import ExitCode

ELSEWHERE = """WHERE key = ? AND run <> ? AND state IN ('done', 'reused')
AND run IN (SELECT seq FROM run_rows WHERE status = 'finished') ORDER BY run DESC LIMIT 20"""

REMOVED = "000000-gone"
"""Where a step was taken from whose run is being removed this very moment."""


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


class Recorder:
    """Writes one run. Pipelines use it through Scope."""

    def __init__(
        self,
        database: Database,
        bodies: Bodies,
        run: Run,
        steps: list[Step],
        clock: Clock,
        signer: Signer,
    ) -> None:
        self.run = run
        self.bodies = bodies
        self.clock = clock
        self._database = database
        self._signer = signer
        self._by_key: dict[str, Step] = {}
        self._at: dict[str, Step] = {}
        """The step that is at a path now; superseded ones are only in `_by_key`."""
        self._learn(steps)
        self.kept: set[str] = set()
        """Keys of steps of earlier executions of this run whose results this one was given."""
        self.interrupted_at = max(
            [step.ended_at or step.started_at for step in steps] or [run.started_at]
        )
        """When an earlier execution last wrote something."""
        self._before = set(self._by_key)
        self._asked: dict[str, str] = {}
        self._busy: set[str] = set()
        self._idle = threading.Condition()
        self._mutex = threading.RLock()
        self._worked_before = run.worked_s
        self._began = clock.monotonic()

    def request(
        self,
        path: str,
        kind: Kind,
        version: int,
        inputs: object,
        shown: object = None,
        shared: bool = False,
    ) -> StepRequest:
        """The step at this path with these inputs. One execution may not ask twice with different
        ones. The key of a shared step leaves out the first word of its path, the name of the
        pipeline, so that `repair` finds what `diagnose` has done.
        """
        # Hashing only: nothing is kept, and a secret counts as it is.
        place = path.partition("/")[2] if shared else path
        key = hashed(
            [
                place,
                version,
                Flattening(keep=named).flat(inputs),
            ]
        )
        with self._mutex:
            if self.run.status is Status.FINISHED:
                why = f"Run {self.run.id} is finished and takes no more steps."
                raise JournalError(f"{why} Received: {path}.")
            if self._asked.setdefault(path, key) != key:
                why = f"Two different steps were asked for at the path {path} in one execution."
                raise JournalDiverged(why, next_step="Give each its own name, attempt or sample.")
        return StepRequest(
            path,
            kind=kind,
            version=version,
            key=key,
            inputs=inputs if shown is None else shown,
            shared=shared,
        )

    @contextmanager
    def alone(self, keys: Sequence[str]) -> Iterator[None]:
        """No other thread performs these steps meanwhile."""
        with self._idle:
            self._idle.wait_for(lambda: self._busy.isdisjoint(keys))
            self._busy.update(keys)
        try:
            yield
        finally:
            with self._idle:
                self._busy.difference_update(keys)
                self._idle.notify_all()

    def stored(self, wanted: StepRequest) -> Step | None:
        """What this run holds for the wish, in whatever state."""
        with self._mutex:
            return self._by_key.get(wanted.key)

    def elsewhere(self, wanted: StepRequest) -> Step | None:
        """The same shared step done by a finished run, newest first."""
        if self.run.fresh or not wanted.shared:
            return None
        with self._database.snapshot() as connection:
            for step in read_rows(
                connection,
                Step,
                ELSEWHERE,
                (wanted.key, self.run.seq),
            ):
                runs = read_rows(connection, Run, "WHERE seq = ?", (step.run,))
                # It counts as evidence when this user made it and its run here.
                ours = all(run.is_signed(self._signer) and not run.imported for run in runs)
                if ours and step.is_signed(self._signer):
                    return step
        return None

    def keep(self, wanted: StepRequest, step: Step) -> None:
        """Give back a result that this run has: count it when an earlier execution left it, and put
        it back into its place when the program had superseded it.
        """
        if step.key in self._before:
            self.kept.add(step.key)
        if step.state is State.SUPERSEDED:
            with self.writing() as writing:
                writing.revive(wanted, step)

    def begin(self, requests: Sequence[StepRequest]) -> list[Step]:
        """Write the intents, all in one transaction."""
        bodies = [self.bodies.body(wanted.inputs) for wanted in requests]
        self._before.difference_update(wanted.key for wanted in requests)
        with self.writing() as writing:
            return [
                writing.begin(wanted, body) for wanted, body in zip(requests, bodies, strict=True)
            ]

    def failure(self, error: BaseException | None) -> dict[str, Any]:
        """The columns that say of what error a run or a step has ended."""
        if error is None:
            return {"error_type": None, "error": None}
        sentence = error.sentence if isinstance(error, ReenactError) else str(error)
        return {
            "error_type": type(error).__name__,
            "error": self.bodies.words(sentence),
        }

    def reuse(self, taken: Sequence[tuple[StepRequest, Step]]) -> None:
        """Write that this run takes steps from other runs, with the results as they are there."""
        rows = []
        for wanted, source in taken:
            body = self.bodies.body(wanted.inputs)
            text = self.text_of(source, "result")
            found = self._database.rows("SELECT id FROM run_rows WHERE seq = ?", (source.run,))
            origin = source.reused_from or (str(found[0][0]) if found else REMOVED)
            hashes = dict.fromkeys((*body.artefacts, *source.artefact_hashes()))
            rows.append(
                (
                    wanted,
                    State.REUSED,
                    Body(body.text, tuple(hashes)),
                    text,
                    origin,
                )
            )
        with self.writing() as writing:
            for row in rows:
                writing.insert(*row)

    def end(
        self,
        status: Status,
        code: ExitCode | None,
        error: BaseException | None = None,
        **columns: Any,
    ) -> None:
        """Write the status of the run now."""
        with self.writing() as writing:
            columns |= {
                "status": status,
                "exit_code": None if code is None else int(code),
            }
            writing.run = replace(
                writing.run, ended_at=self.now(), **self.failure(error), **columns
            )

    def taken(self) -> list[Step]:
        """The steps of this run whose results come from other runs, in order."""
        with self._mutex:
            reused = [step for step in self._by_key.values() if step.state is State.REUSED]
        return sorted(reused, key=lambda step: step.nr)

    def ended_at(self, run_id: str) -> str | None:
        """When another run ended; none when it is not here any more."""
        rows = self._database.rows("SELECT ended_at FROM run_rows WHERE id = ?", (run_id,))
        return rows[0][0] if rows else None

    def text_of(self, step: Step, column: str) -> str:
        """The `inputs` or the `result` of a step, as it is in the row."""
        with self._database.snapshot() as connection:
            return read_body(connection, step, column)

    def now(self) -> str:
        return self.clock.now().isoformat(timespec="milliseconds")

    def worked_s(self) -> float:
        """Seconds of work so far, over all executions."""
        return float(self._worked_before + max(0.0, self.clock.monotonic() - self._began))

    @contextmanager
    def writing(self) -> Iterator[_Writing]:
        """Steps that change in one transaction, with the run's row."""
        with self._mutex:
            with self._database.transaction() as connection:
                writing = _Writing(
                    connection,
                    run=self.run,
                    by_key=self._by_key,
                    at=self._at,
                    now=self.now(),
                    signer=self._signer,
                )
                yield writing
                run = replace(writing.run, worked_s=self.worked_s()).sealed(self._signer)
                set_row(connection, self.run, run)
            self.run = run
            self._learn(writing.changed.values())

    def _learn(self, steps: Iterable[Step]) -> None:
        for step in steps:
            self._by_key[step.key] = step
            if step.state is not State.SUPERSEDED:
                self._at[step.path] = step


@dataclass(slots=True)
class _Writing:
    """One transaction in the making: steps change, and the run's row keeps account of them."""

    connection: sqlite3.Connection
    run: Run
    by_key: Mapping[str, Step]
    """The steps of the run as the file has them."""
    at: Mapping[str, Step]
    now: str
    signer: Signer
    changed: dict[str, Step] = field(default_factory=dict)
    """What the caller learns when all of it is in the file."""

    def begin(self, wanted: StepRequest, inputs: Body) -> Step:
        """The intent; a second one for a step that was begun before and has no result."""
        old = self.by_key.get(wanted.key)
        if old is None:
            return self.insert(wanted, State.BEGUN, inputs)
        self._supersede(wanted)
        again = {
            "tries": old.tries + 1,
            "started_at": self.now,
            "error_next": None,
            "final": 0,
        }
        return self.put(
            old,
            state=State.BEGUN,
            **again,
            **UNENDED,
        )

    def insert(
        self,
        wanted: StepRequest,
        state: State,
        inputs: Body,
        result: str = "",
        source: str | None = None,
    ) -> Step:
        """A step that the run did not have."""
        self._supersede(wanted)
        step = Step(
            number=next_number(self.connection, Step),
            run=self.run.seq,
            nr=self.run.steps + 1,
            path=wanted.path,
            kind=wanted.kind,
            version=wanted.version,
            key=wanted.key,
            state=state,
            started_at=self.now,
            ended_at=None if state is State.BEGUN else self.now,
            reused_from=source,
            artefacts=dumped(list(inputs.artefacts)),
            inputs_digest=digest(inputs.text),
            result_digest=digest(result),
        ).sealed(self.signer)
        put_row(self.connection, step, inputs=inputs.text, result=result)
        self._account(None, step)
        return step

    def done(
        self,
        step: Step,
        result: Body,
        cost: Cost,
        took_s: float,
    ) -> None:
        """The result of a step that was begun, with its cost on top of what earlier tries cost."""
        priced = step.money is not None and cost.money is not None
        hashes = dict.fromkeys((*step.artefact_hashes(), *result.artefacts))
        self.put(
            step,
            result.text,
            state=State.DONE,
            ended_at=self.now,
            duration_s=step.duration_s + took_s,
            money=str(Decimal(step.money or 0) + (cost.money or 0)) if priced else None,
            tokens_in=step.tokens_in + cost.tokens_in,
            tokens_out=step.tokens_out + cost.tokens_out,
            artefacts=dumped(list(hashes)),
            result_digest=digest(result.text),
        )

    def revive(self, wanted: StepRequest, step: Step) -> None:
        """A superseded result that is asked for again."""
        self._supersede(wanted)
        self.put(
            step,
            state=State.REUSED if step.reused_from else State.DONE,
        )

    def put(
        self,
        step: Step,
        result: str | None = None,
        /,
        **columns: Any,
    ) -> Step:
        """Other columns of a step that the run has, with its result where that is new."""
        old = self.changed.get(step.key) or self.by_key[step.key]
        new = replace(step, **columns).sealed(self.signer)
        set_row(
            self.connection,
            old,
            new,
            **({} if result is None else {"result": result}),
        )
        self._account(old, new)
        return new

    def _supersede(self, wanted: StepRequest) -> None:
        old = self.at.get(wanted.path)
        if old is not None and old.key != wanted.key:
            self.put(old, state=State.SUPERSEDED)

    def _account(self, old: Step | None, new: Step) -> None:
        after = _shares(new)
        before = _shares(old) if old else dict.fromkeys(after, 0)
        counted = {
            name: getattr(self.run, name) + part - before[name] for name, part in after.items()
        }
        counted["steps_sum"] %= SUM
        paid_before = Decimal((old.money if old else None) or 0)
        money = str(Decimal(self.run.money) + Decimal(new.money or 0) - paid_before)
        self.run = replace(self.run, **counted, money=money)
        self.changed[new.key] = new


def _shares(step: Step) -> dict[str, int]:
    """What one step adds to the run's counters."""
    counted = {
        state.value: int(step.state is state) for state in (State.DONE, State.REUSED, State.FAILED)
    }
    tokens = {
        "tokens_in": step.tokens_in,
        "tokens_out": step.tokens_out,
    }
    return (
        counted
        | tokens
        | {
            "unpriced": int(step.money is None),
            "steps": 1,
            "steps_sum": step.check_sum,
        }
    )
