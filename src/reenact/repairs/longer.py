"""Longer training helps nearly every program a little and repairs none: it comes last and alone."""

from __future__ import annotations

from statistics import median

from reenact.program.edit.change import Change, Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.repairs.search_context import SearchContext
from reenact.trials.statistics import ALPHA, compare

SEEDS = 5
"""On which the rest of a change is trained with longer training and without."""
TAKEN_OUT = "Longer training was taken out of the change again: the gain does not need it."


def is_longer(change: Change, context: SearchContext) -> bool:
    """Whether it trains for more epochs."""
    if not isinstance(change, Set) or change.hyperparameter.kind is not Kind.EPOCHS:
        return False
    old = next(
        (one.in_force for one in context.hyperparameters if one.id == change.hyperparameter), None
    )
    new = change.value
    if not isinstance(old, int | float) or not isinstance(new, int | float):
        return True
    return new > old


def has_longer(patch: Patch, context: SearchContext) -> bool:
    return any(is_longer(one, context) for one in patch.changes)


def without_longer(patch: Patch, context: SearchContext) -> tuple[Patch, str]:
    """The change without longer training where the rest does not surely need it, and that this was
    done.

    The burden of proof is on longer training: over five seeds the whole must be significantly better
    than the rest alone, by enough to matter. What cannot be paid is not proven.
    """
    rest = Patch(tuple(one for one in patch.changes if not is_longer(one, context)))
    if rest == patch or not (rest or context.kept) or not context.applies(rest):
        return patch, ""
    if rest and context.within_budget(context.cost(patch, SEEDS) + context.cost(rest, SEEDS)):
        alone, whole = (context.samples(one, SEEDS) for one in (rest, patch))
        needed = compare(alone, whole).p_value < ALPHA
        if needed and context.better(median(alone), median(whole)):
            return patch, ""
    return (rest, TAKEN_OUT) if rest else (patch, "")
