"""Debugging: analysis first, then edits, so many times at most. The same failure twice changes tactics."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reenact.errors import AnswerUnusable
from reenact.journal import Scope
from reenact.paper.develop import asking
from reenact.paper.develop.work import Work

FIRST = "Mend the cause with as few changes as it takes."
ANOTHER = (
    "The same failure came back: what was tried before did not work. Take a different way, not a variation"
    " of it."
)
ANEW = (
    "The same failure came back several times. Write the file in which it arises anew, whole, in the simplest"
    " form that does what the paper asks for."
)
STUBBORN = 3
"""Times that a failure comes back before a file is written anew."""


@dataclass(frozen=True, slots=True)
class _Try:
    """One attempt, for whoever tries again."""

    signature: str
    analysis: str
    outcome: str

    def __str__(self) -> str:
        return f"{self.analysis}\nAfterwards: {self.outcome}"


def debugged(work: Work, run: Scope, tries: int) -> Work:
    """The version mended, or the one that went furthest."""
    best, tried, count = work, list[_Try](), 0
    while not work.runs and count < tries:
        scope = run.under("debug", attempt=count)
        count += 1
        failure = work.found.problems[0]
        work.shop.say(f"{work.stage}: mend, try {count} of at most {tries}: {failure}"[:200])
        alike = [one for one in tried if one.signature == failure.signature]
        try:
            work, analysis = _mended(work, scope, alike)
        except AnswerUnusable as error:
            words = error.for_model or error.sentence
            tried.append(_Try(failure.signature, "No usable answer came.", words))
            continue
        outcome = "it runs" if work.runs else str(work.found.problems[0])
        tried.append(_Try(failure.signature, analysis, outcome))
        if work.found.reached >= best.found.reached:
            best = work
    return replace(best, tries=work.tries + count)


def _mended(work: Work, scope: Scope, alike: list[_Try]) -> tuple[Work, str]:
    earlier = "\n\n".join(str(one) for one in alike[-2:])
    seen = asking.analyse(work, scope, earlier)
    analysis = f"Cause: {seen.cause}\nRemedy: {seen.remedy}"
    project, assumed = asking.mend(work, scope, earlier, analysis, _tactic(len(alike)))
    after = work.with_project(project, assumed, scope)
    # What was once proposed stays proposed: the user may want to install it.
    wanted = (*work.found.proposed, *after.found.proposed, *filter(None, [seen.requirement]))
    found = replace(after.found, proposed=tuple(dict.fromkeys(wanted)))
    return replace(after, found=found), analysis


def _tactic(alike: int) -> str:
    if not alike:
        return FIRST
    return ANOTHER if alike < STUBBORN else ANEW
