"""The law of a step: a stored result is given back; else intent, effect, result, in this order."""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from reenact.errors import JournalError, ReenactError, Stopped, StorageError
from reenact.journal.codec import Body
from reenact.journal.recorder import Recorder, StepRequest
from reenact.journal.records import Cost, Kind, State, Step
from reenact.own_process import crash_point

T = TypeVar("T")
GroupEffect: TypeAlias = Callable[[tuple[str, ...]], Iterable[Mapping[str, T]]]
AFTER_INTENT = {Kind.LLM: "C5", Kind.TRIAL: "C13"}
AFTER_EFFECT = {Kind.LLM: "C6", Kind.BOX: "C11", Kind.TRIAL: "C14"}
READABLE = (State.DONE, State.REUSED, State.SUPERSEDED)
MISFIT = (ValueError, TypeError, KeyError, AttributeError)
"""What decoding raises when the stored data are not of its type (pydantic's error is a ValueError)."""


@dataclass(frozen=True, slots=True)
class Steps(Generic[T]):
    """Steps of one sort that the program asks for, by name."""

    recorder: Recorder
    requests: Mapping[str, StepRequest]
    effect: GroupEffect[T]
    decode: Callable[[Any], T]
    cost: Callable[[T], Cost] | None = None
    final: tuple[type[ReenactError], ...] = ()
    still: Callable[[T], bool] | None = None

    def results(self) -> dict[str, T]:
        """The stored results, and those of the effect for all others; a final failure is raised again."""
        with self.recorder.alone([wanted.key for wanted in self.requests.values()]):
            for wanted in self.requests.values():
                self._raise_final(wanted)
            results = self._kept()
            missing = {name: wanted for name, wanted in self.requests.items() if name not in results}
            return results | self._perform(missing) if missing else results

    def _raise_final(self, wanted: StepRequest) -> None:
        """Raise again the failure that stands for good, if this step has one."""
        step = self.recorder.stored(wanted)
        if step is None or step.state is not State.FAILED or not step.final:
            return
        for kind in self.final:
            if kind.__name__ == step.error_type:
                raise kind(step.error or "", next_step=step.error_next or "")

    def _kept(self) -> dict[str, T]:
        """The results in this run, or else (of shared steps) in finished ones, recorded as reused.

        A result that `still` rejects counts as not there: the step is performed again.
        """
        recorder = self.recorder
        found: dict[str, T] = {}
        taken: list[tuple[StepRequest, Step]] = []
        for name, wanted in self.requests.items():
            step = recorder.stored(wanted)
            source = step or recorder.elsewhere(wanted)
            if source is None or source.state not in READABLE or not source.has_result:
                continue
            data = recorder.bodies.plain(recorder.text_of(source, "result"))
            try:
                result = self.decode(data)
            except MISFIT:
                # Written by a program whose type was another: the step is performed again, never guessed at.
                continue
            if self.still is not None and not self.still(result):
                continue
            found[name] = result
            if step is None:
                taken.append((wanted, source))
            else:
                recorder.keep(wanted, step)
        if taken:
            recorder.reuse(taken)
        return found

    def _perform(self, requests: Mapping[str, StepRequest]) -> dict[str, T]:
        """One effect for one or many steps, recorded before; each group it yields is one transaction."""
        recorder = self.recorder
        begun = dict(zip(requests, recorder.begin(list(requests.values())), strict=True))
        kind = next(iter(requests.values())).kind
        _crash(AFTER_INTENT, kind)
        results: dict[str, T] = {}
        since = recorder.clock.monotonic()
        groups: Iterable[Mapping[str, T]] = ()
        try:
            groups = self.effect(tuple(requests))
            for group in groups:
                _crash(AFTER_EFFECT, kind)
                results |= self._write_group(begun, group, since)
                since = recorder.clock.monotonic()
        except (Stopped, StorageError):
            raise
        except Exception as error:
            took_s = (recorder.clock.monotonic() - since) / max(1, len(begun))
            recorder.fail(list(begun.values()), error, took_s, final=isinstance(error, self.final))
            raise
        finally:
            # A generator may hold a pool of processes: it is closed at once, not when somebody forgets it.
            if isinstance(groups, Generator):
                groups.close()
        return results

    def _write_group(self, begun: dict[str, Step], group: Mapping[str, T], since: float) -> dict[str, T]:
        if strange := [name for name in group if name not in begun]:
            raise JournalError(
                f"A result came for a step that was not asked for, or twice. Received: {strange[0]!r}."
            )
        if not group:
            return {}
        packed = {name: self._packed(begun[name], value) for name, value in group.items()}
        costs = {name: self.cost(value) if self.cost else Cost() for name, value in group.items()}
        rows = [(begun[name], packed[name][0], costs[name]) for name in group]
        self.recorder.done(rows, self.recorder.clock.monotonic() - since)
        for name in group:
            del begun[name]
        return {name: back for name, (_, back) in packed.items()}

    def _packed(self, step: Step, value: T) -> tuple[Body, T]:
        """The value as it is written, and as it will be read."""
        body = self.recorder.bodies.body(value)
        try:
            return body, self.decode(self.recorder.bodies.plain(body.text))
        except MISFIT as error:
            raise JournalError(
                f"The result of step {step.path} does not come back from the journal as it went: {error}.",
                next_step="Give the step the type of its result: step(..., returns=TYPE).",
            ) from error


def _crash(points: Mapping[Kind, str], kind: Kind) -> None:
    if kind in points:
        crash_point(points[kind])
