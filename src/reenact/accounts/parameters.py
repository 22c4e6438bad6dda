"""The account of parameters: which tensors the loss reaches, an optimizer owns, and a step moves."""

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
from reenact.probe.books.parameters import ParametersBook, TensorRow
from reenact.probe.trace import Experiments, Trace
from reenact.types import Place

NOT_TRAINED = "parameters-not-trained"
FEWEST_READS = 3
"""Backward passes whose gradients must have been read since a tensor was met."""
NETWORK = 3
"""Frozen kernels from which on they are a network; fewer may be random features on purpose."""
LARGE, SMALL = 0.2, 0.02
"""Share of all numbers that a frozen part must have to be one that the training needs, and below
which nothing is reported.
"""
LONG = 10
"""Steps of its own optimizers that must have been read before its gradients are reported never to come."""
NAMED = 3
"""Tensors that a sentence names."""


def parameters_account(
    trace: Trace,
    experiments: Experiments,  # noqa: ARG001
) -> Account | None:
    """What became of every tensor that could learn."""
    book = trace.books.parameters if trace.books is not None else None
    if book is None or not book.tensors:
        return None
    return Account(BookName.PARAMETERS, tuple(_entries(trace, book)))


def _entries(trace: Trace, book: ParametersBook) -> Iterator[Entry]:
    if book.reads < FEWEST_READS or not any(one.moved for one in book.tensors):
        yield unseen("parameters", f"only {book.reads} backward passes were looked at")
        return
    parts = _Parts(trace, book)
    still = list(parts.still())
    yield from _learned(parts, still)
    yield from _not_owned(parts, still)
    yield from _not_reached(parts, still)
    yield from _frozen(parts, still)
    yield from _decayed(parts)
    yield from _parted(book)
    yield from _facts(parts, still)


class _Parts:
    """The tensors of models that learn, and where their parts were made."""

    def __init__(self, trace: Trace, book: ParametersBook) -> None:
        self.trace = trace
        self.book = book
        learning = {one.root for one in book.tensors if one.moved and one.owners}
        learning |= {one.root for one in book.tensors if one.graded}
        self.live = [one for one in book.tensors if one.gone < 0 and one.root in learning]
        self.moved = [one for one in self.live if one.moved]
        self.count = sum(one.count for one in self.live) or 1

    def still(self) -> Iterator[TensorRow]:
        """Tensors that never moved, though gradients were read often enough since they were met."""
        for one in self.live:
            if not one.moved and self.book.looks - one.met >= FEWEST_READS:
                yield one

    def share(self, tensors: Sequence[TensorRow]) -> float:
        return sum(one.count for one in tensors) / self.count

    def named(self, tensors: Sequence[TensorRow]) -> str:
        """The parts that hold these, by their names."""
        names = _owners(tensors)
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        listed = ", ".join(names[:NAMED]) + more
        # A number alone reads as a quantity: layers of a Sequential have no other name.
        return f"layer {listed}" if names[0].isdigit() else listed

    def place(self, tensors: Sequence[TensorRow]) -> Place | None:
        """Where the part that holds all of these was made."""
        root = tensors[0].root
        if root < 0 or any(one.root != root for one in tensors):
            return None
        made = {one.path: one.place for one in self.book.models[root].parts}
        common = _common([_owner(one).split(".") for one in tensors])
        ends = (".".join(common[:length]) for length in range(len(common), -1, -1))
        for end in ends:
            if made.get(end) is not None:
                return made[end]
        return None

    def optimizer_place(self) -> Place | None:
        made = self.trace.graph.optimizer if self.trace.graph is not None else None
        return made.place if made is not None else None


def _owner(tensor: TensorRow) -> str:
    """The path of the layer that holds a tensor; the tensor itself where it is the model's own."""
    return tensor.path.rpartition(".")[0] or tensor.path or "a tensor outside the model"


def _owners(tensors: Sequence[TensorRow]) -> tuple[str, ...]:
    """The layers that hold these, each once."""
    return tuple(dict.fromkeys(_owner(one) for one in tensors))


def _common(paths: Sequence[Sequence[str]]) -> list[str]:
    """The words with which all paths begin."""
    common = []
    for words in zip(*paths, strict=False):
        if len(set(words)) > 1:
            break
        common.append(words[0])
    return common


def _learned(parts: _Parts, still: Sequence[TensorRow]) -> Iterator[Entry]:
    if not still:
        count = sum(one.count for one in parts.moved)
        yield balances(
            "parameters-move",
            f"all {count:,} numbers in {len(parts.moved)} tensors move",
        )


def _not_owned(parts: _Parts, still: Sequence[TensorRow]) -> Iterator[Entry]:
    """Gradients come to tensors that no optimizer has."""
    lost = [one for one in still if one.graded and not one.owners]
    if not lost or not any(one.owners for one in parts.book.tensors):
        return
    share = max(one.share for one in lost)
    saw = (
        f"{parts.named(lost)}: gradients come (up to {share:.0%} of their norm), no optimizer has "
        f"them, and they never move"
    )
    replaced = [one for one in lost if _took_the_place(one, parts.book)]
    if replaced:
        yield imbalance(
            "replaced-after-optimizer",
            f"{saw}; an optimizer still holds what was there before",
            fault=NOT_TRAINED,
            place=parts.place(replaced) or parts.optimizer_place(),
            confidence=0.95,
            layers=_owners(lost),
        )
    elif _is_random(lost):
        yield imbalance(
            "reached-not-owned",
            f"{saw}: they are as they were drawn",
            fault=NOT_TRAINED,
            place=parts.optimizer_place(),
            confidence=0.8,
            layers=_owners(lost),
        )
    else:
        yield fact("reached-not-owned", saw)


def _is_random(tensors: Sequence[TensorRow]) -> bool:
    """Whether none of these was learned before: its kernels are as drawn."""
    return are_drawn(tensors)


def _took_the_place(tensor: TensorRow, book: ParametersBook) -> bool:
    """Whether an optimizer has the tensor that was at this path of the model before, or one of its
    shape that no model has and no gradient reaches.
    """
    owned = [one for one in book.tensors if one.owners]
    return any(
        (one.gone >= 0 and (one.root, one.path) == (tensor.root, tensor.path))
        or (one.root < 0 and not one.graded and one.shape == tensor.shape)
        for one in owned
    )


def _not_reached(parts: _Parts, still: Sequence[TensorRow]) -> Iterator[Entry]:
    """Tensors that an optimizer has, that ask for gradients and whose layers run, get none."""
    cut = [one for one in still if one.owners and one.trainable and not one.graded]
    ran = [one for one in cut if one.asked or one.asked_without]
    if not ran:
        return
    share = parts.share(ran)
    saw = (
        f"{parts.named(ran)}: {share:.0%} of all numbers are in an optimizer and their layers run, "
        f"but no gradient ever comes"
    )
    kernels = [one for one in ran if one.spread]
    large = len(kernels) > 1 and share > LARGE / 2
    if are_drawn(ran) and (large or _is_first(parts, ran)):
        yield imbalance(
            "owned-not-reached",
            f"{saw}: they are as they were drawn",
            fault=NOT_TRAINED,
            place=parts.place(ran),
            confidence=0.8,
            layers=_owners(ran),
        )
    else:
        yield fact("owned-not-reached", saw)


def _is_first(parts: _Parts, tensors: Sequence[TensorRow]) -> bool:
    """Whether these run before everything that learns."""
    orders = [one.order for one in tensors if one.order >= 0]
    others = [one.order for one in parts.moved if one.order >= 0]
    return bool(orders and others) and min(orders) < min(others)


def _frozen(parts: _Parts, still: Sequence[TensorRow]) -> Iterator[Entry]:
    """Tensors that nothing is to move: sound where they were learned before."""
    frozen = [one for one in still if not one.graded and not (one.owners and one.trainable)]
    ran = [one for one in frozen if one.asked or one.asked_without or not one.trainable]
    share = parts.share(ran)
    if not ran or share < SMALL:
        return
    saw = f"{parts.named(ran)}: {share:.0%} of all numbers never move"
    kernels = [one for one in ran if one.spread]
    if not are_drawn(ran):
        yield fact("frozen", f"{saw}, and are not as they were drawn")
    elif len(kernels) < NETWORK or share < LARGE or _has_twins(ran, parts.moved):
        yield fact("frozen-random", f"{saw}, and are as they were drawn")
    else:
        yield imbalance(
            "frozen-random",
            f"{saw}, and are as they were drawn: nothing was loaded into them",
            fault=NOT_TRAINED,
            place=parts.place(ran),
            confidence=0.8,
            layers=_owners(ran),
        )


def _has_twins(tensors: Sequence[TensorRow], moved: Sequence[TensorRow]) -> bool:
    """Whether another part has all the same shapes and learns: a target to be predicted."""
    shapes = Counter(one.shape for one in tensors)
    others = Counter(one.shape for one in moved)
    return not shapes - others


def _decayed(parts: _Parts) -> Iterator[Entry]:
    """Tensors that an optimizer moves though no step ever had a gradient of them: by their decay."""
    gone_on = [
        one
        for one in parts.moved
        if one.owners and one.trainable and not one.spent
        if one.stepped >= LONG
    ]
    share = parts.share(gone_on)
    if not gone_on or share < SMALL or not any(one.spent for one in parts.moved):
        return
    yield imbalance(
        "moved-without-gradient",
        f"{parts.named(gone_on)}: {share:.0%} of all numbers are moved by an optimizer whose steps "
        f"never have a gradient for them",
        why="Gradients of zero do not freeze a part: its weights decay, and nothing is learned in "
        "them.",
        place=parts.place(gone_on),
        confidence=0.6,
    )


def _parted(book: ParametersBook) -> Iterator[Entry]:
    for pair in book.parted:
        yield imbalance(
            "parted",
            f"{pair.one} and {pair.other} were one parameter of {pair.count:,} numbers, and are "
            f"two in the training",
            fault="untied-weights",
            place=pair.place,
            confidence=0.9,
        )


def _facts(parts: _Parts, still: Sequence[TensorRow]) -> Iterator[Entry]:
    """What only the author can judge."""
    follow = [one for one in parts.book.tensors if one.moved and not one.graded and not one.owners]
    if follow:
        yield fact(
            "follows",
            f"{len(follow)} tensors move without gradient or optimizer, as averages do",
        )
    twice = [one for one in parts.moved if len(one.owners) > 1]
    if twice:
        most = max(len(one.owners) for one in twice)
        yield fact("owned-twice", f"{len(twice)} tensors were given to {most} optimizers")
    idle = [one for one in still if one.owners and one.trainable and not one.graded]
    idle = [one for one in idle if not one.asked and not one.asked_without]
    if idle:
        yield fact(
            "owned-not-run",
            f"{parts.named(idle)}: in an optimizer, and their layers were not seen to run",
        )
