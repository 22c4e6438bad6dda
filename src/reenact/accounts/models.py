"""The account of models: are the weights that are trained, judged and restored the ones they are taken for,
and did each pass run in the mode that it is for?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from reenact.accounts.account import (
    Account,
    BookName,
    Entry,
    balances,
    fact,
    imbalance,
    unseen,
)
from reenact.accounts.drawn import are_drawn
from reenact.probe.books.models import JudgedPass, Mixed, ModelsBook, Restored, Stepped
from reenact.probe.books.parameters import ParametersBook
from reenact.probe.trace import Experiments, Trace

FEWEST = 3
"""Steps or passes from which on a share means something."""
MOSTLY = 0.5
OFTEN = 0.3
"""Share of the steps in evaluation mode that is not an accident."""
WHOLLY = 0.995
"""From this part on a copy was never touched."""
FAR, WALKED = 0.3, 0.05
"""How far from a mixture of old and new weights an average may be, and how far those must have gone."""
FEWEST_UNUSED = 8
"""Steps and passes from which on it is not a start that is left out."""
HELPS = 0.4
"""Share of the steps in which a model is asked that is a part of the training, not judged."""
MORE = 1.5


def models_account(
    trace: Trace,
    experiments: Experiments,  # noqa: ARG001
) -> Account | None:
    """Modes, averages and restored weights."""
    book = trace.books.models if trace.books is not None else None
    if book is None or not book.models:
        return None
    parameters = trace.books.parameters if trace.books is not None else None
    return Account(BookName.MODELS, tuple(_entries(book, parameters, trace)))


def _entries(book: ModelsBook, parameters: ParametersBook | None, trace: Trace) -> Iterator[Entry]:
    yield from _steps(book)
    yield from _judging(book)
    if parameters is not None:
        yield from _never_trained(book, parameters)
    yield from _averages(book)
    yield from _restored(book)
    yield from _unused(book, trace)


def _unused(book: ModelsBook, trace: Trace) -> Iterator[Entry]:
    """Passes that were made to learn from, and nothing was learned from them."""
    if not book.unused:
        return
    sentence = f"{book.unused} passes with gradients never went backward"
    backward = float((trace.steps["backward_calls"] > 0).sum())
    moved = sum(one.moved for one in book.models)
    if min(trace.step_count, book.unused) < FEWEST_UNUSED or backward or moved:
        yield fact("unused", sentence)
        return
    passed = next((one.place for one in trace.happened("training-pass")), None)
    yield imbalance(
        "no-backward",
        f"no loss goes backward: the optimizer stepped {trace.step_count} times, and none of "
        f"{book.unused} passes that were looked at led to a gradient{_warned(trace)}",
        fault="parameters-not-trained",
        place=passed,
        confidence=0.95,
        is_proof=True,
    )


def _warned(trace: Trace) -> str:
    """What the library reports of it meanwhile."""
    for event in trace.happened("warning"):
        message = str(event.facts.get("message", ""))
        if "training_step" in message:
            return f'; Lightning warns: "{message.split(". ")[0]}"'
    return ""


def _steps(book: ModelsBook) -> Iterator[Entry]:
    """The modes of the passes whose losses were stepped, by model."""
    for root, model in enumerate(book.models):
        rows = [one for one in book.stepped if one.root == root]
        modal = [one for one in rows if one.modes.on or one.modes.off]
        if len(modal) >= FEWEST:
            yield _mode_of_steps(model.name, modal, model.fresh_norms)
        elif rows and not modal:
            yield balances("modes", f"{model.name}: nothing in it has a mode")
    if not book.stepped:
        yield unseen("modes", "no pass was seen whose loss was stepped")


def _mode_of_steps(name: str, rows: Sequence[Stepped], fresh_norms: bool) -> Entry:
    off = [one for one in rows if not one.modes.on]
    saw = f"{name}: {len(off)} of {len(rows)} steps looked at came from passes in evaluation mode"
    if not off:
        return balances("modes", f"{name}: all {len(rows)} steps came from passes in training mode")
    first = off[0].step
    after = [one for one in rows if one.step >= first]
    stays = sum(not one.modes.on for one in after) >= 0.9 * len(after)
    if len(off) < len(rows) and stays and len(off) >= OFTEN * len(rows):
        return imbalance(
            "stepped-in-evaluation-mode",
            f"{saw}, all but a few of those after step {first}, and none before",
            fault="trained-in-evaluation-mode",
            confidence=0.9,
        )
    if len(off) == len(rows) and _never_on(rows, fresh_norms):
        return imbalance(
            "stepped-in-evaluation-mode",
            saw,
            fault="trained-in-evaluation-mode",
            confidence=0.7,
        )
    return fact("stepped-in-evaluation-mode", saw)


def _never_on(rows: Sequence[Stepped], fresh_norms: bool) -> bool:
    """Whether a mode that was never on is missed: dropout that the model was made with, batch norm
    with the statistics that it was made with. Batch norm that was learned before is often frozen on
    purpose.
    """
    drops = any(one.modes.keeps for one in rows)
    norms = any(one.modes.stays for one in rows)
    return fresh_norms if norms else drops


def _judging(book: ModelsBook) -> Iterator[Entry]:
    """The modes of passes without gradients, by model."""
    for root, model in enumerate(book.models):
        rows = [one for one in book.judged if one.root == root]
        if not rows or not any(one.modes.on or one.modes.off for one in rows):
            continue
        on = [one for one in rows if one.modes.on]
        saw = (
            f"{model.name}: {len(on)} of {len(rows)} passes without gradients ran in training mode"
        )
        if not on:
            yield balances("judged", f"{model.name}: all {len(rows)} passes that judge ran in eval")
        elif _is_judged_wrongly(book, root, rows):
            yield imbalance(
                "judged-in-training-mode",
                saw,
                fault="evaluated-in-training-mode",
                place=next((one.place for one in on if one.place is not None), None),
                confidence=0.85,
            )
        else:
            yield fact("judged-in-training-mode", saw)


def _is_judged_wrongly(book: ModelsBook, root: int, rows: Sequence[JudgedPass]) -> bool:
    """Whether no one means it so: the one model that learns, asked between steps, mostly with dropout
    on, about other rows each time. Samples of dropout ask again; batch norm alone may be measured
    again; a teacher or a generator is asked within the steps.
    """
    learns = [one for one in book.models if one.owned]
    on = [one for one in rows if one.modes.on]
    mode_steps = [one for one in book.stepped if one.root == root and one.modes.on]
    return (
        len(learns) == 1
        and bool(book.models[root].owned)
        and len(on) >= FEWEST
        and len(on) >= MOSTLY * len(rows)
        and bool(mode_steps)
        and any(one.modes.drops for one in on)
        and not any(one.again for one in on)
        and not _helps(book, root)
    )


def _helps(book: ModelsBook, root: int) -> bool:
    """Whether a model is asked in the steps themselves, as a teacher, a target or a generator is."""
    asked = {one.step for one in book.judged if one.root == root}
    inside = {one.step for one in book.judged if one.root == root and one.within}
    return len(asked) >= HELPS * max(book.steps, 1) or len(inside) > MOSTLY * len(asked)


def _never_trained(book: ModelsBook, parameters: ParametersBook) -> Iterator[Entry]:
    """Models that are judged as they were drawn, where another one of their shapes learns."""
    shapes: dict[int, Counter[tuple[int, ...]]] = {}
    for tensor in parameters.tensors:
        shapes.setdefault(tensor.root, Counter())[tensor.shape] += 1
    for root, model in enumerate(book.models):
        rows = [one for one in book.judged if one.root == root]
        if not rows or model.owned or model.moved or _helps(book, root):
            continue
        held = [one for one in parameters.tensors if one.root == root]
        learns = [
            other
            for other, twin in enumerate(book.models)
            if twin.owned and twin.moved and shapes.get(other) == shapes.get(root)
        ]
        if not learns or not are_drawn(held):
            continue
        saw = f"{model.name} is asked in {len(rows)} passes without gradients as it was drawn"
        if any(one.root in learns for one in book.judged):
            yield fact("judged-never-trained", f"{saw}; the one that learns is asked as well")
            continue
        yield imbalance(
            "judged-never-trained",
            f"{saw}: another model of its shapes learns, and is never asked",
            why="What is judged is not what was trained: load the trained weights into it, or ask the "
            "model that was trained.",
            place=rows[0].place,
            confidence=0.85,
        )


def _averages(book: ModelsBook) -> Iterator[Entry]:
    for mixed in book.averages:
        judged = any(one.root == mixed.root for one in book.judged)
        if not judged or mixed.off > FAR or mixed.walked < WALKED:
            continue
        yield _average(book, mixed)


def _average(book: ModelsBook, mixed: Mixed) -> Entry:
    name = book.models[mixed.root].name
    learned = book.models[mixed.of].name
    of = "the model" if learned == name else learned
    saw = f"{name} is asked and not taught; {mixed.old:.0%} of it is what {of} began with"
    if not MOSTLY < mixed.old < MORE:
        return balances("average", saw)
    if mixed.old > WHOLLY and _is_judged_alone(book, mixed):
        return imbalance(
            "judged-copy-of-the-beginning",
            f"{name} is judged with the weights that {of} began with, and {of} is never asked though it "
            "has learned",
            why="A copy that was made before the training does not learn with it: judge the model that was "
            "trained, or copy it afterwards.",
            place=next((one.place for one in book.judged if one.root == mixed.root), None),
            confidence=0.8,
        )
    if mixed.old > WHOLLY or _helps(book, mixed.root):
        return fact("average", saw)
    return imbalance(
        "average-of-old-weights",
        saw,
        fault="ema-decay-too-slow",
        place=next((one.place for one in book.judged if one.root == mixed.root), None),
        confidence=0.8,
    )


def _is_judged_alone(book: ModelsBook, mixed: Mixed) -> bool:
    """Whether a copy that nothing moves is what is judged, and the model that learns is not."""
    asked = sum(one.root == mixed.root for one in book.judged)
    learner = any(one.root == mixed.of for one in book.judged)
    return asked >= FEWEST and not learner and not mixed.moved and not _helps(book, mixed.root)


def _restored(book: ModelsBook) -> Iterator[Entry]:
    late = [one for one in book.restored if one.step]
    if late:
        yield _nothing_restored(late)


def _nothing_restored(restored: Sequence[Restored]) -> Entry:
    first = restored[0]
    return imbalance(
        "restored-itself",
        f"after step {first.step} {first.model} was given its own tensors to load: nothing changed",
        why="A state dict holds the live tensors of a model: they go on changing with it unless they "
        "are copied.",
        place=first.place,
        confidence=0.9,
    )
