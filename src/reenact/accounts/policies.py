"""Entries on policy gradients: whether a step makes likelier what came out better."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import Entry, balances, fact, imbalance
from reenact.probe.books.formulas import FormulasBook, Policy

FEWEST = 3
"""Losses of which the way is known below which nothing is reported."""
ALL = 0.9
FAULT = "wrong-sign-in-loss"


def policy_entries(book: FormulasBook) -> Iterator[Entry]:
    """One a line that goes backward."""
    opposed = any(_rises(one) for one in book.policies)
    for policy in book.policies:
        yield from _entry(policy, opposed)


def return_entries(book: FormulasBook) -> Iterator[Entry]:
    """One a line that goes backward."""
    for one in book.returns:
        if one.forward >= FEWEST and not one.backward:
            yield imbalance(
                "returns-of-the-past",
                f"in {one.forward} losses the weight of an action is the discounted sum of the rewards up to "
                "it, and no later reward is in it",
                why="An action cannot change what came before it: a return sums the rewards from the action "
                "to the end, so it is computed from the last step back.",
                place=one.at.place,
                confidence=0.9,
            )
        elif one.backward >= FEWEST:
            yield balances("returns", "the weight of an action sums the rewards that follow it")


def _rises(policy: Policy) -> bool:
    known = policy.lowered + policy.raised
    return known >= FEWEST and policy.raised >= ALL * known


def _entry(policy: Policy, opposed: bool) -> Iterator[Entry]:
    """Of two players one may lower what the other raises."""
    place = policy.place or policy.backward.place
    known = policy.lowered + policy.raised
    if known < FEWEST and policy.smaller >= max(FEWEST, ALL * policy.seen) and not policy.raised:
        yield imbalance(
            "pessimistic-bound-lowered",
            "of two products of ratio and advantage the smaller one counts, and it is lowered: a step "
            "makes actions with a positive advantage less likely",
            fault=FAULT,
            place=place,
            confidence=0.85,
        )
    elif known >= FEWEST and policy.lowered >= ALL * known and not opposed:
        yield imbalance(
            "rewarded-less-likely",
            f"in {policy.lowered} of {known} losses a step makes those actions less likely that came "
            "out better than the critic of the same loss expected",
            fault=FAULT,
            place=place,
            confidence=0.85,
        )
    elif _rises(policy):
        yield balances(
            "policy", "a step makes those actions likelier that came out better than expected"
        )
    elif known >= FEWEST:
        yield fact(
            "policy",
            f"in {policy.lowered} of {known} losses a step makes those actions less likely that came "
            "out better than expected",
            place,
        )
