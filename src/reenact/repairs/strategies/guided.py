"""guided: from findings and priors, short trainings first, joint changes, as little as the evidence needs.

Causes first: what findings suggest, then what only changes how it is trained (learning rate, batch size,
optimizer), then longer training, last and alone. The next is begun where the one before does not do.

1. short    every idea that a part of the budget affords, in trainings of a third of the epochs, or where
            there are few, of the data
2. whole    the front-runners, and what the diagnosis is surest of, in whole trainings
3. grow     what else helps on top of the best, then several at once
4. refine   the values of the best, and the next ideas on top of it, while something is to be gained
5. longer   more epochs, where nothing else does
6. confirm  the best of each size on more seeds, as many as can be paid; of nearly equal ones the smallest;
            what one seed favoured and the next does not is dropped, and the next best is looked at
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch, change_for
from reenact.repairs.longer import has_longer
from reenact.repairs.search_context import NOTHING, SearchContext
from reenact.repairs.strategies.ideas import PRIOR_SOURCE, Idea, fits, ideas
from reenact.repairs.strategies.strategy import Scoreboard, once

SHORT = 1 / 3
LONG_ENOUGH = 6
"""Epochs from which on a third of them says something."""
LONG = 30.0
"""CPU seconds from which on it is worth cutting the data of a training that has few epochs."""
FOR_SHORT = 0.35
FOR_WHOLE = 0.5
FOR_GROWING = 0.6
FOR_REFINING = 0.65
"""Shares of the budget that are spent when each stage ends."""
FOR_LONGER = 0.75
FOR_ALL_BUT_LONGER = 0.65
FOR_ANOTHER_SEED = 0.75
"""The same where the first seed says nothing apart."""
FRONT = 4
SURE = 0.6
SEEDS = 3
NEARLY = 0.05
"""Share of the gain that a smaller change may miss; the minimiser, with its test, allows more."""
OF_AN_ERROR = 0.25
"""Share of an error that counts as nearly the same error."""
LESS = 0.25
"""Share of the gain that a change may miss which trains in half the time: longer training helps
nearly every program a little, and one look says little.
"""
EXPENSIVE = 2.0
"""Times what another training costs from which on a change is expensive; never less than a
training as is.
"""
FINALISTS = 3
LONGER = 2
"""Numbers of epochs that are tried."""
ENOUGH = 0.9
"""Share of what could be gained from which on nothing further is looked for."""
MATCH = 2
"""One that helps gets a rival: one look says little."""

CALMER = (0.1, 0.01)
"""Shares of the learning rate at which a change is tried again whose loss was lost."""
Scored = tuple[Patch, float]


class Guided:
    """Ours."""

    name = "guided"

    def search(self, context: SearchContext) -> list[Patch]:
        """See `Strategy.search`."""
        if context.trainer.budget.stretches(context.trainer.one_training):
            context.looks = SEEDS
        base = context.base()
        if context.perfect(base):
            return []
        causes, protocol, longer = in_order(ideas(context), context)
        scored = Scoreboard([idea.patch for idea in (*causes, *protocol, *longer)])
        if causes:
            _whole(context, scored, _short(context, causes), FOR_WHOLE)
            _grow(context, base, scored)
        if not _does(context, base, scored):
            _whole(context, scored, _short(context, protocol), FOR_WHOLE)
            if scored.best(base) is None:
                base = _on_another_seed(context, base, scored, [*causes, *protocol])
            _grow(context, base, scored)
            _refine(context, base, scored, [*causes, *protocol])
        if not _does(context, base, scored):
            _longer(context, base, scored, longer)
        return _confirm(context, base, scored)


def in_order(
    wanted: Sequence[Idea], context: SearchContext
) -> tuple[list[Idea], list[Idea], list[Idea]]:
    """What findings suggest, what changes how the program is trained, and longer training."""
    longer = [idea for idea in wanted if has_longer(idea.patch, context)]
    others = [idea for idea in wanted if idea not in longer]
    causes = [idea for idea in others if idea.source != PRIOR_SOURCE]
    return causes, [idea for idea in others if idea not in causes], longer


def _does(context: SearchContext, base: float, scored: Scoreboard) -> bool:
    """Whether what was found does: then nothing further is looked for."""
    reached = scored.score(scored.best(base) or NOTHING, base)
    if not context.better(base, reached):
        return False
    trainer = context.trainer
    most = trainer.bounded and reached - base >= ENOUGH * (1 - base)
    return most or trainer.is_good_enough(reached)


def _longer(
    context: SearchContext, base: float, scored: Scoreboard, longer: Sequence[Idea]
) -> None:
    """More epochs alone; with the best, where that is not all that is to be gained."""
    wanted = [idea.patch for idea in longer[:LONGER] if fits(context, idea)]
    best = scored.best(base)
    if best is not None:
        wholes = [context.together(best, one) for one in wanted if not _overlap(best, one)]
        wanted += [one for one in wholes[:1] if one is not None]
    share = (
        FOR_LONGER if best is not None and context.better(base, scored.score(best, base)) else 1.0
    )
    new = _affordable(context, [one for one in wanted if one not in scored], share)
    if new:
        scored.add(new, context.scores(new))


def _within(context: SearchContext, share: float, cost: float) -> bool:
    """Whether a stage may still spend this."""
    used, total = context.trainer.balance
    return used + cost <= share * total and context.within_budget(cost)


def _short(context: SearchContext, wanted: Sequence[Idea]) -> list[Patch]:
    """The ideas in the order of what a short training says of them; as they come where none can
    be short.
    """
    epochs = next(
        (param.in_force for param in context.hyperparameters if param.kind is Kind.EPOCHS),
        0,
    )
    long = context.can_shorten and isinstance(epochs, int) and epochs >= LONG_ENOUGH
    # A long training of few epochs is looked at with a share of its data first.
    slow = not long and context.trainer.one_training >= LONG and context.within_budget(SHORT)
    share = SHORT if long or (slow and context.try_fewer_data(SHORT)) else 1.0
    tried: list[Idea] = []
    scores: list[float] = []
    left = list(wanted)
    base = -math.inf
    while chosen := _next_few(
        context,
        left,
        share,
        0.0 if tried else share,
    ):
        found = context.scores(
            [
                *([] if tried else [NOTHING]),
                *(idea.patch for idea in chosen),
            ],
            share=share,
        )
        if not tried:
            base, *found = found
        tried = [*tried, *chosen]
        scores = [*scores, *found]
        lost = [idea for idea, score in zip(chosen, found, strict=True) if score == -math.inf]
        left[:0] = [
            calmer for idea in lost if idea.weight >= SURE for calmer in _calmer(context, idea)
        ]
        if context.perfect(max(found)):
            break
    if not tried:
        return [idea.patch for idea in wanted[:2] if fits(context, idea)]
    # A short training of four times the epochs is not short: what is expensive waits.
    expensive = [context.cost(idea.patch) >= EXPENSIVE for idea in tried]
    order = sorted(
        range(len(tried)),
        key=lambda at: (expensive[at], -scores[at]),
    )
    better = [tried[at] for at in order if scores[at] > base]
    sure = [idea for idea in better if idea.weight >= SURE]
    doubted = [idea for idea in tried if idea.weight >= SURE and idea not in better]
    return once(
        [idea.patch for idea in (*sure[:2], *better[:FRONT], *doubted[:1], *better[FRONT:])]
    )


def _calmer(context: SearchContext, idea: Idea) -> list[Idea]:
    """What is surely wrong was changed, and the loss is lost: the same with smaller steps."""
    rate = next(
        (param for param in context.hyperparameters if param.kind is Kind.LEARNING_RATE),
        None,
    )
    if rate is None or not isinstance(rate.in_force, int | float):
        return []
    steps = [
        Patch(
            (
                change_for(
                    rate,
                    float(f"{rate.in_force * factor:.3g}"),
                ),
            )
        )
        for factor in CALMER
    ]
    whole = [context.together(idea.patch, step) for step in steps if not _overlap(idea.patch, step)]
    return [replace(idea, patch=patch) for patch in whole if patch is not None]


def _next_few(
    context: SearchContext,
    left: list[Idea],
    share: float,
    planned: float,
) -> list[Idea]:
    """Takes the next ideas within the budget of the stage; an expensive one makes way for those
    after it.
    """
    chosen: list[Idea] = []
    while left and len(chosen) < FRONT:
        idea = left.pop(0)
        cost = context.cost(idea.patch, share=share)
        if _within(
            context,
            FOR_SHORT if share < 1 else FOR_WHOLE,
            planned + cost,
        ) and fits(context, idea):
            chosen.append(idea)
            planned += cost
    return chosen


def _on_another_seed(
    context: SearchContext, base: float, scored: Scoreboard, wanted: Sequence[Idea]
) -> float:
    """Nothing helps: luck may have favoured the unchanged program. The surest ideas, on the
    next seed; gives what the unchanged program comes to there.
    """
    surest = [idea.patch for idea in wanted[:FRONT] if fits(context, idea)]
    cost = context.cost(NOTHING) + context.cost(surest[0]) if surest else 0.0
    if not surest or not _within(context, FOR_ANOTHER_SEED, cost):
        return base
    # From now on first looks are at another seed: on the one before nothing differed.
    context.first_seed = (context.first_seed + context.looks) % len(context.trainer.seeds)
    there = context.base()
    scored.clear()
    _whole(context, scored, surest, FOR_ANOTHER_SEED)
    return there


def _whole(
    context: SearchContext,
    scored: Scoreboard,
    front: list[Patch],
    share: float,
) -> None:
    chosen = _affordable(
        context,
        front[: FRONT + 2],
        share,
        at_least=1,
    )
    scored.add(chosen, context.scores(chosen))


def _grow(context: SearchContext, base: float, scored: Scoreboard) -> None:
    """Add to the best what else helped; all of it at once; what comes best is grown again."""
    for _ in range(2):
        best = scored.best(base)
        if best is None or context.perfect(scored.score(best, base)):
            return
        helpful = [one for one, score in scored if context.better(base, score) and one != best]
        pairs = [
            context.together(best, other) for other in helpful[:3] if not _overlap(best, other)
        ]
        if len(helpful) > 1:
            pairs.append(
                context.together(
                    best,
                    *[one for one in helpful[:4] if not _overlap(best, one)],
                )
            )
        fresh = [one for one in pairs if one is not None and one not in scored]
        new = _affordable(context, fresh, FOR_GROWING)
        if not new:
            return
        scored.add(new, context.scores(new))
        if scored.best(base) == best:
            return


def _refine(
    context: SearchContext,
    base: float,
    scored: Scoreboard,
    wanted: Sequence[Idea],
) -> None:
    """Other values in the best change, then the next ideas on top of it, a few at a time."""
    left = [idea.patch for idea in wanted]
    for _ in range(8):
        best = scored.best(base) or NOTHING
        reached = scored.score(best, base)
        if context.perfect(reached):
            return
        near = [one for one in _neighbours(best) if one not in scored and context.applies(one)]
        # While there is nothing to confirm, what is left is for the search, and for longer training.
        share = FOR_REFINING if context.better(base, reached) else FOR_ALL_BUT_LONGER
        wider: list[Patch] = []
        while left and len(near) + len(wider) < FRONT:
            idea = left.pop(0)
            whole = context.together(best, idea) if not _overlap(best, idea) else None
            if (
                whole is not None
                and whole not in scored
                and _within(context, share, context.cost(whole))
            ):
                wider.append(whole)
        new = _affordable(
            context,
            [*near[:2], *wider],
            share,
        )
        if not new:
            return
        scores = context.scores(new)
        scored.add(new, scores)
        improved = context.better(reached, max(scores))
        if not improved and not left:
            return
        # The evidence suffices: most of what could be gained is gained.
        enough = context.trainer.bounded and reached - base >= 0.9 * (1 - base)
        if not improved and context.better(base, reached) and enough:
            return


def _neighbours(patch: Patch) -> list[Patch]:
    """The same change with a learning rate, batch size or number of units next to the one it sets."""
    found = []
    for number, change in enumerate(patch.changes):
        if (
            not isinstance(change, Set)
            or not isinstance(change.value, int | float)
            or not change.value
        ):
            continue
        for factor in FACTORS.get(change.hyperparameter.kind, ()):
            value = change.value * factor
            whole = (
                isinstance(change.value, int)
                and change.hyperparameter.kind is not Kind.LEARNING_RATE
            )
            other = Set(
                change.hyperparameter,
                max(1, round(value)) if whole else float(f"{value:.3g}"),
            )
            found.append(Patch((*patch.without(number).changes, other)))
    return found


FACTORS: dict[Kind, tuple[float, ...]] = {
    Kind.UNITS: (2.0,),
    Kind.LEARNING_RATE: (1 / 3, 3.0),
    Kind.BATCH_SIZE: (0.5, 2.0),
}


def _confirm(context: SearchContext, base: float, scored: Scoreboard) -> list[Patch]:
    """The finalists on more seeds; what misses little of the best gain and changes less comes
    first.
    """
    good = [(patch, score) for patch, score in scored if context.better(base, score)]
    finalists = choose_finalists(context, good, base, scored)
    if not finalists:
        return []
    # One seed says less than several: a smaller change must come closer to the best.
    left = smallest_near(
        context, [(one, scored.score(one, base)) for one in finalists], base, NEARLY / 2
    )
    if not _looks(context, left[:1]):
        return left
    held: list[Patch] = []
    while left and not held and (looks := _looks(context, left[:2]) or _looks(context, left[:1])):
        chosen = affordable_on_seeds(context, left, looks)
        held = _held(context, chosen, 1 + looks)
        if looks < SEEDS - 1:
            # One more seed says what does not help; to say which helps most it is too few.
            held = [one for one in chosen if one in held]
        left = [one for one in left if one not in chosen]
    if len(affordable_on_seeds(context, held[:2], SEEDS)) > 1:
        # What is left of the budget decides between the two in front.
        held = [
            *_held(context, held[:2], 2 * SEEDS),
            *held[2:],
        ]
    return held


def _looks(context: SearchContext, patches: Sequence[Patch]) -> int:
    """On how many more seeds these can be looked at next to the unchanged program; at most
    two.
    """
    for seeds in range(SEEDS - 1, 0, -1):
        if context.within_budget(sum(context.cost(one, seeds) for one in patches) + seeds):
            return seeds
    return 0


def _held(
    context: SearchContext,
    patches: Sequence[Patch],
    seeds: int,
) -> list[Patch]:
    """Those that help over so many seeds, the smallest of the nearly best first."""
    base, *scores = context.scores([NOTHING, *patches], seeds)
    better = [pair for pair in zip(patches, scores, strict=True) if context.better(base, pair[1])]
    return smallest_near(context, better, base)


def _affordable(
    context: SearchContext,
    patches: list[Patch],
    share: float,
    at_least: int = 0,
) -> list[Patch]:
    """Those that a stage may still spend on, one after the other."""
    chosen: list[Patch] = []
    planned = 0.0
    for patch in patches:
        cost = context.cost(patch)
        if len(chosen) < at_least or _within(context, share, planned + cost):
            chosen.append(patch)
            planned += cost
    return chosen


def _overlap(one: Patch, other: Patch) -> bool:
    """Whether both turn the same hyperparameter."""
    first, second = (
        {
            getattr(each, "hyperparameter", None) or getattr(each, "anchor", None)
            for each in patch.changes
        }
        for patch in (one, other)
    )
    return bool(first & second)


def choose_finalists(
    context: SearchContext,
    good: Sequence[Scored],
    base: float,
    scored: Scoreboard,
) -> list[Patch]:
    """The best of every size, the largest gain first; of nearly equal ones what was most promising,
    for a cause that a finding names is a better repair than a cure of its symptoms. The best that
    is much cheaper to train is next to one that is expensive, and the next best next to one that
    would be alone.
    """
    found: list[Scored] = []
    cheap: list[Patch] = []
    for size in sorted({patch.complexity for patch, _ in good}):
        same = [pair for pair in good if pair[0].complexity == size]
        # The first of them has the largest gain.
        near, close = (
            _floor(
                context,
                same[0][1],
                base,
                nearly,
            )
            for nearly in (NEARLY, LESS)
        )
        found.append(
            min(
                (one for one in same if one[1] >= near),
                key=lambda pair: scored.rank(pair[0]),
            )
        )
        cost = context.cost(found[-1][0])
        others = [patch for patch, score in same if cost >= EXPENSIVE and score >= close]
        cheap += [patch for patch in others if EXPENSIVE * context.cost(patch) <= cost][:1]
    rising = [pair for at, pair in enumerate(found) if all(pair[1] > one[1] for one in found[:at])]
    best = [
        patch
        for patch, _ in sorted(
            rising,
            key=lambda pair: -pair[1],
        )
    ][:FINALISTS]
    chosen = [*best, *cheap[:1]]
    rivals = [patch for patch, _ in good if patch not in chosen]
    return [
        *chosen,
        *rivals[: max(0, MATCH - len(chosen))],
    ]


def affordable_on_seeds(
    context: SearchContext, patches: Sequence[Patch], seeds: int
) -> list[Patch]:
    """As many as can be trained over so many more seeds, next to the unchanged program; what is
    much more expensive than another goes first, then the last.
    """
    chosen = list(patches)
    while len(chosen) > 1 and not context.within_budget(
        sum(context.cost(one, seeds) for one in chosen) + seeds
    ):
        costs = [context.cost(one) for one in chosen]
        expensive = max(costs) >= EXPENSIVE * max(1.0, min(costs))
        chosen.pop(costs.index(max(costs)) if expensive else -1)
    return chosen


def smallest_near(
    context: SearchContext,
    found: Sequence[Scored],
    base: float,
    nearly: float = NEARLY,
) -> list[Patch]:
    """Those whose gain is nearly the largest first, the smallest of them before the others."""
    if not found:
        return []
    floor = _floor(
        context,
        max(score for _, score in found),
        base,
        nearly,
    )

    def order(pair: Scored) -> tuple[bool, int, float]:
        patch, score = pair
        near = score >= floor
        return (not near, patch.complexity if near else 0, -score)

    return [patch for patch, _ in sorted(found, key=order)]


def _floor(
    context: SearchContext,
    top: float,
    base: float,
    nearly: float,
) -> float:
    """From here on a gain is nearly the largest. An error is measured by its own size too: next to
    one that exploded all others are alike.
    """
    gain = top - base
    if context.trainer.bounded:
        return top - nearly * gain if math.isfinite(gain) else top
    return top - min(nearly * gain, OF_AN_ERROR * abs(top))


STRATEGY = Guided
