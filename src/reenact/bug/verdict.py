"""The verdict on all attempts, and the reason for it in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reenact.bug.case import Case
from reenact.bug.confirm import verdict_on
from reenact.bug.reproduction import Attempt, Verdict
from reenact.bug.run.classify import Outcome
from reenact.bug.validate.stage import Stage


def verdict_of(case: Case, attempts: Sequence[Attempt]) -> tuple[Verdict, str]:
    """Reproduced or shown by the evidence; not reproduced when scripts ran the project and saw nothing."""
    showing = next((one for one in attempts if one.shows), None)
    if showing is not None and not case.options.parts.execution:
        return Verdict.INCONCLUSIVE, "a script was written but not run: execution is switched off"
    if showing is not None:
        return verdict_on(case, showing.runs)
    exercised = [one for one in attempts if Outcome.NOTHING in {run.seen.outcome for run in one.runs}]
    on_fixed = [one for one in attempts if one.stage is Stage.FIXED]
    both = [one for one in on_fixed if any(run.shows for run in one.fixed_runs)]
    if both:
        return Verdict.NOT_REPRODUCED, f"what was shown is not what the fix mends ({len(both)} scripts)"
    if on_fixed:
        why = str(on_fixed[-1].objections[0]).rstrip(".")
        return Verdict.INCONCLUSIVE, f"the symptom shows, but nothing confirms it: {why}"[:600]
    if exercised:
        return (
            Verdict.NOT_REPRODUCED,
            f"{len(exercised)} of {len(attempts)} scripts ran the project without it",
        )
    return Verdict.INCONCLUSIVE, _obstacle(attempts)


def _obstacle(attempts: Sequence[Attempt]) -> str:
    """Why not even one script could say anything: what stopped most of them."""
    if not attempts:
        return "there was no context to write a script from"
    stopped = Counter(_stop_words(one) for one in attempts)
    what, count = stopped.most_common(1)[0]
    last = next(one for one in reversed(attempts) if _stop_words(one) == what)
    why = f", the last: {last.objections[0]}" if last.objections else ""
    return f"none of {len(attempts)} scripts ran as it should: {what} ({count}){why}"[:600].rstrip(".")


def _stop_words(one: Attempt) -> str:
    outcome = one.outcome
    return outcome.value if outcome is not None else one.stage.value if one.stage is not None else "no reason"
