"""Whether the state that was selected by a metric is the one that the model has in the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reenact.accounts.account import Entry, balances, fact, imbalance
from reenact.probe.books.metrics import KeptEpoch, Loaded, MetricsBook


@dataclass(frozen=True, slots=True)
class Selected:
    """A line that keeps states when a metric is at its best."""

    kept: KeptEpoch
    metric: str
    values: Mapping[int, float]

    @property
    def best(self) -> int:
        return max(self.kept.steps)

    @property
    def last(self) -> int:
        """The step of the last evaluation."""
        return max(self.values)


def restored_entries(book: MetricsBook, selected: Sequence[Selected]) -> Iterator[Entry]:
    """One entry per line that selects states."""
    for one in selected:
        after = [load for load in book.loaded if load.step >= one.last]
        own = [load for load in after if load.model == one.kept.model]
        if own:
            yield from _restored(one, own[-1])
        elif not after and one.best < one.last:
            yield _not_restored(book, one)


def _restored(selected: Selected, load: Loaded) -> Iterator[Entry]:
    key = "restored-state"
    best = selected.best
    saw = f"the state of step {best} is kept, when {selected.metric} is at its best"
    if load.of == best:
        yield balances(key, f"{saw}, and is the one that is restored after the training")
    elif load.of > best:
        yield imbalance(
            key,
            f"{saw} ({selected.values[best]:.4g}); what is restored after the training is the state of step "
            f"{load.of}{_value(selected, load.of)}",
            why="The model that is used in the end is not the one that was selected.",
            place=load.place,
            confidence=0.8,
        )


def _not_restored(book: MetricsBook, selected: Selected) -> Entry:
    """The model goes on with the weights of its last step."""
    key = "restored-state"
    saw = (
        f"the state of step {selected.best} is kept, when {selected.metric} is at its best "
        f"({selected.values[selected.best]:.4g}), and never loaded"
    )
    if book.written < 0 and (rows := _judged_on_others(book, selected)):
        return imbalance(
            key,
            f"{saw} or saved; the model is judged on {rows:.0f} other rows after the training, with the "
            f"weights of its last step{_value(selected, selected.last)}",
            why="A state that was selected and is not restored has no effect: what is judged in the end "
            "is the last state, not the best one.",
            place=selected.kept.place,
            confidence=0.75,
        )
    written = " (something was saved)" if book.written >= selected.best else ""
    return fact(key, f"{saw}{written}", selected.kept.place)


def _value(selected: Selected, step: int) -> str:
    """The metric at a step, where it is known."""
    value = selected.values.get(step)
    return f" ({value:.4g})" if value is not None else ""


def _judged_on_others(book: MetricsBook, selected: Selected) -> float:
    """Rows that are asked about after the last step and never before."""
    earlier = {
        (stream.source, stream.asked_at)
        for one in book.evaluations
        if one.step < selected.last
        for stream in one.streams
    }
    late = (one for one in book.evaluations if one.step >= selected.last)
    others = (
        stream.rows
        for one in late
        for stream in one.streams
        if (stream.source, stream.asked_at) not in earlier and stream.model == selected.kept.model
    )
    return max(others, default=0.0)
