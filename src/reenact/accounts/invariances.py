"""Entries on what must not change the output of a trained model: the other rows of a batch, and padding."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import Entry, balances, fact, imbalance
from reenact.probe.trace import Behaviour, Experiments

MOVED = 1e-3
"""Share of the spread of an output by which it may move: rounding."""


def invariance_entries(experiments: Experiments) -> Iterator[Entry]:
    """Of each model that was tested: with the weights that moved it, else with the last ones."""
    moved = {tested.model: tested for tested in experiments.moving("mixing", MOVED)}
    last = {tested.model: tested for tested in experiments.behaviour}
    for tested in (last | moved).values():
        yield from _of_rows(tested)
        yield from _of_padding(tested)


def _of_rows(tested: Behaviour) -> Iterator[Entry]:
    if tested.mixing is None:
        return
    if tested.mixing <= MOVED:
        yield balances("rows-apart", f"the other rows of a batch leave what {_named(tested)} gives")
        return
    where = tested.mixing_at
    yield imbalance(
        "rows-apart",
        f"the other rows of a batch move what {_named(tested)} gives for a row by {tested.mixing:.2g} "
        "of its spread",
        fault="batch-rows-mixed",
        place=where.forward if where is not None else None,
        confidence=0.95,
    )


def _of_padding(tested: Behaviour) -> Iterator[Entry]:
    cases = (
        (tested.padding, "less padding at the end of rows"),
        (tested.padding_added, "more padding in what a decoder reads"),
    )
    for moved, what in cases:
        if moved is None:
            continue
        if moved <= MOVED:
            yield balances("padding", f"{what} leaves what {_named(tested)} gives")
        else:
            yield fact(
                "padding", f"{what} moves what {_named(tested)} gives by {moved:.2g} of its spread"
            )


def _named(tested: Behaviour) -> str:
    return tested.model or "the model"
