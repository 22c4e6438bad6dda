"""`python -m benchmarks.detector.first_contact`: what findings were worth on programs that no rule
had seen.

`first_contact.json` holds, for each set of programs, what the rules reported as they stood before
that set was looked at. Each set in turn is left out: shares by rule are counted on the others,
shrunk towards that of all, and the set left out is scored. Shares by rule carry over to no other
set, so none are used.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from reenact.diagnosis.options import THRESHOLD
from reenact.faults.confidence import EVEN, Health
from reenact.faults.fault_type import FaultType
from reenact.faults.observation import Certainty
from reenact.faults.registry import all_detectors

DATA = Path(__file__).with_suffix(".json")
WEIGHT = 4
"""Findings that the share of all counts for beside those of one rule."""


@dataclass(frozen=True, slots=True)
class Reported:
    """A finding at or above the threshold."""

    codes: tuple[str, ...]
    families: tuple[str, ...]
    certainty: Certainty
    fault: FaultType | None
    confidence: float
    crash: bool
    true: bool


@dataclass(frozen=True, slots=True)
class Contact:
    """A program and what was first reported of it."""

    set: str
    program: str
    sound: bool
    health: Health
    broken: bool
    findings: tuple[Reported, ...]


Shares = dict[str, float]


def contacts() -> tuple[Contact, ...]:
    return TypeAdapter(tuple[Contact, ...]).validate_python(
        json.loads(DATA.read_text(encoding="utf-8"))
    )


def stands(one: Reported, health: Health) -> bool:
    """Whether a finding stands beside what the training shows, as in `grouped`."""
    silent = health not in (Health.WORKS, Health.UNCLEAR)
    if one.certainty is Certainty.PROOF or one.crash or silent:
        return True
    if one.certainty is Certainty.HINT:
        return len(one.families) > 1 and one.confidence >= EVEN
    would_show = one.fault is not None and one.fault.traits.keeps_from_learning
    return not (health is Health.WORKS and would_show and not _of_held_out_rows(one))


def _of_held_out_rows(one: Reported) -> bool:
    """Whether all its detectors are about rows that are not trained on."""
    about = {each.code for each in all_detectors() if each.of_held_out_rows}
    return about.issuperset(one.codes)


def shares_of(known: Sequence[Contact]) -> Shares:
    """By rule that leads: the share of strong findings that were true, shrunk towards that of
    all.
    """
    strong = [
        (one.codes[0], one.true)
        for contact in known
        for one in contact.findings
        if one.certainty is Certainty.STRONG and contact.health is not Health.FAILS
    ]
    count, right = (
        Counter(code for code, _ in strong),
        Counter(code for code, true in strong if true),
    )
    of_all = (sum(right.values()) + 1) / (len(strong) + 2)
    return {code: (WEIGHT * of_all + right[code]) / (WEIGHT + count[code]) for code in count}


def scored(of: Sequence[Contact], *, health: bool, shares: Shares | None = None) -> str:
    """False alarms and named faults, as they were or with one or both of the corrections."""
    alarms = named = 0
    for one in of:
        left = [
            each
            for each in one.findings
            if (not health or stands(each, one.health))
            and (shares is None or _is_likely(each, one.health, shares))
        ]
        broken = one.broken and (not health or one.health is Health.FAILS)
        alarms += one.sound and bool(left or broken)
        named += not one.sound and any(each.true for each in left)
    sound = sum(one.sound for one in of)
    return f"{alarms}/{sound}, {named}/{len(of) - sound}"


def _is_likely(one: Reported, health: Health, shares: Shares) -> bool:
    judged = one.certainty is Certainty.STRONG and health in (
        Health.WORKS,
        Health.UNCLEAR,
    )
    return not judged or shares.get(one.codes[0], 1.0) >= THRESHOLD


def table() -> str:
    """A line a set: false alarms and named faults as they were, by health, by rule, by both."""
    known = contacts()
    lines = ["set | alarms, named | by health | by rule, set left out | both"]
    for name in dict.fromkeys(one.set for one in known):
        of = [one for one in known if one.set == name]
        shares = shares_of([one for one in known if one.set != name])
        ways = (
            scored(of, health=False),
            scored(of, health=True),
            scored(of, health=False, shares=shares),
            scored(of, health=True, shares=shares),
        )
        lines.append(" | ".join((name, *ways)))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
