"""The law of a step: a stored result is given back; else intent, effect, result, in this order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from reenact.crash import crash_point
from reenact.errors import JournalError, ReenactError, Stopped, StorageError
from reenact.journal.codec import Body, Codec
from reenact.journal.recorder import Recorder
from reenact.journal.records import Cost, Kind, State, Step
from reenact.journal.writing import StepRequest

T = TypeVar("T")
GroupEffect: TypeAlias = Callable[[tuple[str, ...]], Iterable[Mapping[str, T]]]
AFTER_INTENT = {Kind.LLM: "C5", Kind.TRIAL: "C13"}
AFTER_EFFECT = {Kind.LLM: "C6", Kind.BOX: "C11", Kind.TRIAL: "C14"}
READABLE = (State.DONE, State.REUSED, State.SUPERSEDED)
MISFIT = (ValueError, TypeError, KeyError, AttributeError)
"""What a codec raises when the stored data are not of its type (pydantic's error is a ValueError)."""


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """A result that was there already."""

    value: T


def kept(
    recorder: Recorder,
    requests: Mapping[str, StepRequest],
    codec: Codec[T],
    still: Callable[[T], bool] | None = None,
) -> dict[str, T]:
    """The results in this run, or else (of shared steps) in finished ones, recorded as reused; by name.

    A result that `still` rejects counts as not there: the step is performed again.
    """
    found: dict[str, T] = {}
    taken: list[tuple[StepRequest, Step]] = []
    for name, wanted in requests.items():
        step = recorder.stored(wanted)
        source = step or recorder.elsewhere(wanted)
        result = _read(recorder, source, codec) if source and source.state in READABLE else None
        if source is None or result is None or (still is not None and not still(result.value)):
            continue
        found[name] = result.value
        if step is None:
            taken.append((wanted, source))
        else:
            recorder.keep(step)
            if step.state is State.SUPERSEDED:
                recorder.revive(wanted, step)
    if taken:
        recorder.reuse(taken)
    return found


def raise_final(recorder: Recorder, wanted: StepRequest, final: tuple[type[ReenactError], ...]) -> None:
    """Raise again the failure that stands for good, if this step has one."""
    step = recorder.stored(wanted)
    if step is None or step.state is not State.FAILED or not step.final:
        return
    for kind in final:
        if kind.__name__ == step.error_type:
            raise kind(step.error or "", next_step=step.error_next or "")


def perform(
    recorder: Recorder,
    requests: Mapping[str, StepRequest],
    effect: GroupEffect[T],
    codec: Codec[T],
    *,
    cost: Callable[[T], Cost] | None = None,
    final: tuple[type[ReenactError], ...] = (),
) -> dict[str, T]:
    """One effect for one or many steps, recorded before; each group it yields is written in a transaction."""
    begun = dict(zip(requests, recorder.begin(list(requests.values())), strict=True))
    kind = next(iter(requests.values())).kind
    _crash(AFTER_INTENT, kind)
    results: dict[str, T] = {}
    since = recorder.clock.monotonic()
    groups: Iterable[Mapping[str, T]] = ()
    try:
        groups = effect(tuple(requests))
        for group in groups:
            _crash(AFTER_EFFECT, kind)
            results |= _write_group(recorder, begun, group, codec, cost, since)
            since = recorder.clock.monotonic()
    except (Stopped, StorageError):
        raise
    except Exception as error:
        took_s = (recorder.clock.monotonic() - since) / max(1, len(begun))
        recorder.fail(list(begun.values()), error, took_s, final=isinstance(error, final))
        raise
    finally:
        # A generator may hold a pool of processes: it is closed at once, not when somebody forgets it.
        if isinstance(groups, Generator):
            groups.close()
    return results


def _write_group(
    recorder: Recorder,
    begun: dict[str, Step],
    group: Mapping[str, T],
    codec: Codec[T],
    cost: Callable[[T], Cost] | None,
    since: float,
) -> dict[str, T]:
    if strange := [name for name in group if name not in begun]:
        raise JournalError(
            f"A result came for a step that was not asked for, or twice. Received: {strange[0]!r}."
        )
    if not group:
        return {}
    packed = {name: _packed(recorder, begun[name], value, codec) for name, value in group.items()}
    rows = [(begun[name], packed[name][0], cost(value) if cost else Cost()) for name, value in group.items()]
    recorder.done(rows, recorder.clock.monotonic() - since)
    for name in group:
        del begun[name]
    return {name: back for name, (_, back) in packed.items()}


def _read(recorder: Recorder, step: Step, codec: Codec[T]) -> Kept[T] | None:
    if not step.has_result:
        return None
    data = recorder.bodies.plain(recorder.text_of(step, "result"))
    try:
        return Kept(codec.decode(data))
    except MISFIT:
        # Written by a program whose type was another: the step is performed again, never guessed at.
        return None


def _packed(recorder: Recorder, step: Step, value: T, codec: Codec[T]) -> tuple[Body, T]:
    """The value as it is written, and as it will be read."""
    body = recorder.bodies.body(codec.encode(value))
    try:
        return body, codec.decode(recorder.bodies.plain(body.text))
    except MISFIT as error:
        raise JournalError(
            f"The result of step {step.path} does not come back from the journal as it went: {error}.",
            next_step="Give the step the type of its result: step(..., returns=TYPE).",
        ) from error


def _crash(points: Mapping[Kind, str], kind: Kind) -> None:
    if kind in points:
        crash_point(points[kind])
