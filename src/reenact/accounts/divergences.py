"""Entries on `kl_div`: whether it was given logarithms of probabilities and probabilities, and whether what
it gave can be a divergence.
"""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import Entry, balances, fact, imbalance
from reenact.probe.books.formulas import DivergenceCall, FormulasBook, Sums
from reenact.types import Place

SAME = 0.02
"""By which a sum of probabilities may differ from 1: numbers of 16 bits, and smoothing."""
ABOVE = 0.05
"""By which a logarithm of a probability may be above 0."""
BELOW = -1e-3
"""The same of a probability below 0."""
FAULT = "output-does-not-fit-loss"
WHY = "A divergence is never below 0: what it is computed from are not distributions."


def divergence_entries(book: FormulasBook) -> Iterator[Entry]:
    """One entry per line that calls it."""
    by_line: dict[Place | None, list[DivergenceCall]] = {}
    for call in book.divergences:
        by_line.setdefault(call.place, []).append(call)
    for place, calls in by_line.items():
        wrong = [entry for call in calls if (entry := _wrong(call)) is not None]
        if len(wrong) == len(calls):
            yield wrong[0]
        elif not wrong:
            yield _right(calls[-1], place)


def _wrong(call: DivergenceCall) -> Entry | None:
    return _no_logarithms(call) or _other_axes(call) or _no_target(call)


def _no_logarithms(call: DivergenceCall) -> Entry | None:
    """Numbers above 0 where logarithms of probabilities belong, next to a target that is a
    distribution.
    """
    target = axes_of_ones(call.target_exp_sums if call.log_target else call.target_sums)
    if call.given[1] <= ABOVE or not target or _negative_target(call):
        return None
    plain = call.given[0] >= 0 and bool(axes_of_ones(call.given_sums))
    given = "probabilities" if plain else f"numbers up to {call.given[1]:.3g}"
    return imbalance(
        "no-log-probabilities",
        f"kl_div takes log-probabilities and is given {given}{_value(call)}",
        fault=FAULT,
        place=call.place,
        confidence=0.9,
        is_proof=plain or _is_negative(call),
    )


def _other_axes(call: DivergenceCall) -> Entry | None:
    """Both are distributions, along different axes."""
    given = axes_of_ones(call.given_exp_sums)
    target = axes_of_ones(call.target_exp_sums if call.log_target else call.target_sums)
    if call.given[1] > ABOVE or not given or not target or given & target:
        return None
    if _negative_target(call):
        return None
    return imbalance(
        "distributions-of-other-axes",
        f"the log-probabilities that kl_div is given add up to 1 along axis {min(given)}, its targets "
        f"along axis {min(target)}",
        why="Distributions are compared along one axis: a softmax goes over another one here.",
        place=call.place,
        confidence=0.9,
    )


def _no_target(call: DivergenceCall) -> Entry | None:
    """A target that is a logarithm where a probability belongs, or the other way round."""
    if call.given[1] > ABOVE or not axes_of_ones(call.given_exp_sums):
        return None
    if _negative_target(call):
        logs = call.target[1] <= ABOVE and axes_of_ones(call.target_exp_sums)
        given = "log-probabilities" if logs else f"numbers down to {call.target[0]:.3g}"
        sentence = f"the targets of kl_div are {given}, and log_target is not set{_value(call)}"
    elif call.log_target and call.target[0] >= 0 and axes_of_ones(call.target_sums):
        sentence = f"the targets of kl_div are probabilities, and log_target is set{_value(call)}"
    else:
        return None
    return imbalance(
        "no-target-distribution",
        sentence,
        why=WHY,
        place=call.place,
        confidence=0.9,
        is_proof=_is_negative(call),
    )


def _right(call: DivergenceCall, place: Place | None) -> Entry:
    given = axes_of_ones(call.given_exp_sums)
    target = axes_of_ones(call.target_exp_sums if call.log_target else call.target_sums)
    if given & target and call.learns == "target":
        return fact(
            "divergence",
            "kl_div compares two distributions, and it is its target that learns: a divergence in this "
            "direction lets the model leave out what is likely",
            place,
        )
    if given & target:
        return balances("divergence", "kl_div compares two distributions")
    side = "input" if not given else "target"
    return fact(
        "divergence", f"the {side} of kl_div adds up to 1 along no axis{_value(call)}", place
    )


def _negative_target(call: DivergenceCall) -> bool:
    return not call.log_target and call.target[0] < BELOW


def _is_negative(call: DivergenceCall) -> bool:
    return call.value is not None and call.value < BELOW


def _value(call: DivergenceCall) -> str:
    if call.value is not None:
        return f": a divergence of {call.value:.3g}"
    return ""


def axes_of_ones(sums: Sums) -> set[int]:
    """Axes along which all sums are 1."""
    return {
        axis for axis, both in enumerate(sums) if both and max(abs(one - 1) for one in both) <= SAME
    }
