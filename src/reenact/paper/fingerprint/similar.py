"""One criterion for a fact stated twice: by likeness of the words, held back by what must not be
confused.

TF-IDF over runs of characters, cosine distance, average linkage cut at 0.5 as in RePro. Inside a
cluster, and for equal checks, items are one only when their numbers, negations, checks and scopes
agree, when not each of them names something that the other does not (inputs and outputs may be
worded alike and are two things), and when none adds a name to a name of the other.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from reenact.paper.criterion import Criterion, CriterionCheck, Kind, Level
from reenact.paper.fingerprint.fingerprint import EVERYWHERE, Dropped, Item, shortened
from reenact.paper.fingerprint.vocabulary import (
    SECTIONS,
    common,
    concept,
    named,
    squeezed,
    words_of,
)
from reenact.paper.quantity import as_quantity, quantities

DISTANCE = 0.5
"""Average distance at which clusters are no longer joined."""
RUNS = (3, 4, 5)
"""Lengths of the runs of characters."""
_NOT = re.compile(r"\b(?:not|no|never|without|instead of|rather than|except)\b", re.IGNORECASE)
_NAME = re.compile(r"[A-Z0-9]")
_NETWORK = re.compile(r"\b([A-Za-z]\w*)[ -](?:network|net|model|head|branch|tower|module)s?\b")
_ENDING = re.compile(r"(?:ing|ent|ed|es|s|e)$")
_LETTER = re.compile(r"[^\W\d_]")
_DIGITS = re.compile(r"\S*\d\S*")
_RANK = {level: rank for rank, level in enumerate(Level)}


def distinct(items: Sequence[Item]) -> tuple[list[Item], list[Dropped]]:
    """One of each; the others say which one they repeat."""
    kept: dict[int, Item] = {}
    dropped: list[Dropped] = []
    clusters = _clusters([f"{item.fact} | {item.scope}" for item in items])
    order = sorted(
        enumerate(items),
        key=lambda pair: (
            pair[1].check is None,
            _RANK[pair[1].level],
        ),
    )
    for number, item in order:
        twin = next(
            (other for other in kept if _one(number, other, items, clusters)),
            None,
        )
        if twin is None:
            kept[number] = item
            continue
        kept[twin] = replace(
            kept[twin],
            weight=max(kept[twin].weight, item.weight),
        )
        reason = f"it says the same as: {shortened(kept[twin].fact, 100)}"
        dropped.append(
            Dropped(
                shortened(item.fact),
                item.level,
                reason,
                item.quote,
            )
        )
    return [kept[number] for number in sorted(kept)], dropped


def _one(
    number: int,
    other: int,
    items: Sequence[Item],
    clusters: Sequence[int],
) -> bool:
    item = items[number]
    first = items[other]
    # The actor's hidden units are not the critic's.
    apart = _each_alone(_parts_named(item), _parts_named(first))
    if apart or _names_more(item, first) or _names_more(first, item):
        return False
    if _one_at_its_place(item, first):
        return True
    same_check = item.check and first.check and _same_check(item.check, first.check)
    if (item.check and first.check and not same_check) or not _agree(item, first):
        return False
    worded_alike = clusters[number] == clusters[other]
    return bool(same_check) or (
        worded_alike
        and not _each_alone(
            _weighty(item.fact),
            _weighty(first.fact),
        )
    )


def _each_alone(mine: frozenset[str], yours: frozenset[str]) -> bool:
    """Whether each has a word that the other has not."""
    return bool(mine - yours) and bool(yours - mine)


def _weighty(text: str) -> frozenset[str]:
    """Words that say what, without their endings: `drawing`, `draws`, `size`, `sizes`, `differ`."""
    words = re.findall(r"\w+", text.casefold())
    return frozenset(_ENDING.sub("", word) if len(word) > 3 else word for word in words) - common(
        "light"
    )


def _parts_named(item: Item) -> frozenset[str]:
    """Networks and trainings by their role or name: `critic`, the `value` network, `NetA`."""
    text = f"{item.scope}. {item.fact}"
    owners = frozenset(word.casefold() for word in _NETWORK.findall(text)) - common("light")
    return (
        (words_of(text) & common("roles"))
        | owners
        | frozenset(filter(_LETTER.match, _names(item.fact)))
    )


def _names_more(item: Item, other: Item) -> bool:
    """Whether one names what the other does and more: `after Adam` is not `after Adam and
    L-BFGS`.
    """
    mine, yours = (frozenset(filter(_LETTER.match, _names(one.fact))) for one in (item, other))
    return bool(mine & yours) and bool(mine - _spoken(f"{other.scope} {other.fact}"))


def _one_at_its_place(left: Item, right: Item) -> bool:
    """An equation is one fact, however it is put into words and into Python; so is one value of one
    thing, read at one place, whatever else the fact has next to it.
    """
    if left.check is None or right.check is None or left.places != right.places:
        return False
    if Kind.FORMULA in (left.check.kind, right.check.kind):
        return left.check.kind is right.check.kind and left.whole
    one_scope = _denies(left) == _denies(right) and _scopes_agree(left, right)
    return one_scope and _same_check(left.check, right.check)


def contradicts(left: Criterion, right: Criterion) -> bool:
    """Whether the paper gives one thing two values, at two places and in one scope."""
    if (
        left.check is None
        or right.check is None
        or Kind.FORMULA in (left.check.kind, right.check.kind)
    ):
        return False
    if _subject(left.check) != _subject(right.check) or _value(left.check) == _value(right.check):
        return False
    elsewhere = not set(left.places) & set(right.places)
    one_scope = words_of(left.scope) == words_of(right.scope)
    beside = _weighty(f"{left.scope} {right.scope}")
    mine, yours = (_weighty(_DIGITS.sub(" ", one.fact)) - beside for one in (left, right))
    return elsewhere and one_scope and mine == yours and _denies(left) == _denies(right)


def _denies(item: Criterion) -> bool:
    return _NOT.search(item.fact) is not None


def _agree(left: Item, right: Item) -> bool:
    """Nothing in their words speaks against their being one."""
    if (left.whole or right.whole) and not set(left.places) & set(right.places):
        return False
    mine, yours = (
        sorted(f"{one.value:.6g}" for one in quantities(item.fact)) for item in (left, right)
    )
    return mine == yours and _denies(left) == _denies(right) and _scopes_agree(left, right)


def _same_check(left: CriterionCheck, right: CriterionCheck) -> bool:
    """The same thing with the same value; `hidden units` may be called a parameter or a layer."""
    if Kind.FORMULA in (left.kind, right.kind):
        return left.kind is right.kind and squeezed(left.expression) == squeezed(right.expression)
    return _value(left) == _value(right) and _subject(left) == _subject(right)


def _subject(check: CriterionCheck) -> object:
    """Whatever the training's one optimiser, loss or schedule is called, it is that."""
    if check.kind in (Kind.OPTIMISER, Kind.SCHEDULE, Kind.LOSS):
        return check.kind.value
    return concept(check.subject) or words_of(check.subject)


def _value(check: CriterionCheck) -> object:
    number = as_quantity(check.value)
    if number is not None:
        return f"{number.value / 100 if number.percent else number.value:.6g}"
    return (named(check.kind, check.value) if check.kind in SECTIONS else "") or squeezed(
        check.value
    )


def _scopes_agree(left: Item, right: Item) -> bool:
    """One is part of the other (`training`, `training of the student`), or both speak of one
    sentence; all that names nothing is part of the whole method. Different names (`data set A`,
    `data set B`) are never one; a name that the other fact says is not another
    """
    mine = words_of(left.scope) | _names(left.scope)
    yours = words_of(right.scope) | _names(right.scope)
    if not _each_alone(mine, yours):
        return True
    scopes = (left.scope, right.scope)
    # One method, network or data set among others is part of no whole.
    if EVERYWHERE in scopes and not any(
        _names(one) or words_of(one) & common("roles") for one in scopes
    ):
        return True
    mine_alone = (_names(left.scope) - yours) - _spoken(right.fact)
    yours_alone = (_names(right.scope) - mine) - _spoken(left.fact)
    return not mine_alone and not yours_alone and bool(set(left.places) & set(right.places))


def _names(scope: str) -> frozenset[str]:
    """Words with a digit or a capital letter, but for the capital that a longer phrase begins
    with.
    """
    words = re.findall(r"[\w-]+", scope)
    if len(words) > 1 and words[0].istitle():
        del words[0]
    return frozenset(word.casefold() for word in words if _NAME.search(word))


def _spoken(fact: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w-]+", fact.casefold()))


def _clusters(texts: Sequence[str]) -> list[int]:
    """The cluster of each text."""
    if len(texts) < 2:
        return [0] * len(texts)
    import numpy as np
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    counts = []
    for text in texts:
        words = [f" {word} " for word in re.findall(r"[\w.]+", text.casefold())]
        sized = [(word, size) for word in words for size in RUNS]
        runs = (
            word[at : at + size]
            for word, size in sized
            for at in range(max(1, len(word) - size + 1))
        )
        counts.append(Counter(runs))
    columns = {
        run: place for place, run in enumerate(sorted({run for one in counts for run in one}))
    }
    matrix = np.zeros(
        (
            len(texts),
            len(columns) + 1,
        )
    )
    for row, one in enumerate(counts):
        for run, times in one.items():
            matrix[row, columns[run]] = 1.0 + np.log(times)
    matrix *= np.log((1 + len(texts)) / (1 + (matrix > 0).sum(axis=0))) + 1.0
    # A text without a word is far from all.
    joined = linkage(
        np.nan_to_num(pdist(matrix, "cosine"), nan=1.0).clip(
            0.0,
            1.0,
        ),
        method="average",
    )
    return [int(one) for one in fcluster(joined, t=DISTANCE, criterion="distance")]
