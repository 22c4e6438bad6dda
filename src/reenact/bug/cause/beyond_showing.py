"""After a bug was shown: the lines that are suspected, by what there is to compare with."""

from dataclasses import replace

from reenact.bug.cause.difference import cause_in_difference
from reenact.bug.cause.slices import Executed, cause_in_slices
from reenact.bug.generate import Case
from reenact.bug.repro.facts import facts_from
from reenact.bug.repro.judged import Judgement, judged
from reenact.bug.reproduction import Reproduction, SuspectedCause, Verdict
from reenact.bug.script_runner import Mode, Revision
from reenact.journal import Kind, OpenRun, Scope

SHOWN = (Verdict.REPRODUCED, Verdict.SHOWN)
"""Verdicts after which a revision without the bug may be there."""


def suspected_cause(
    found: Reproduction, case: Case, without: tuple[Revision, Revision] | None, run: OpenRun
) -> SuspectedCause | None:
    """The lines that are suspected. `without` is a pair of revisions, with and without the bug,
    other than those of the case: of the commit that brought it.
    """
    if not found.repro or not case.options.parts.execution:
        return None
    place = run.under("cause")
    pair = without
    if case.fixed is not None and found.verdict in SHOWN and found.exits.get("fixed") == 0:
        pair = pair or (case.buggy, case.fixed)
    if pair is not None:
        case.say("look for the lines that make the difference")
        cause = cause_in_difference(*pair, lambda at: _judgement(found, case, at, place))
        if cause is not None and pair is without:
            # Its lines are those of that commit, and may have moved since.
            return replace(cause, how=f"In the commit that brought the bug: {cause.how}")
        if cause is not None:
            return cause
    return _by_slices(found, case, place)


def _judgement(found: Reproduction, case: Case, at: Revision, run: Scope) -> Judgement:
    facts = facts_from(found.facts)
    given: dict[str, object] = {
        "repro": found.repro,
        "facts": found.facts,
        "at": at.identity,
        "environment": case.runner.environment.key,
    }
    code = run.step(
        f"without-{at.identity.rpartition(' ')[2][:16]}",
        lambda: int(judged(found.repro, facts, at, case.runner).judgement),
        kind=Kind.BOX,
        inputs=given,
    )
    return Judgement(code)


def _by_slices(found: Reproduction, case: Case, run: Scope) -> SuspectedCause | None:
    shown = found.shown
    if shown is None:
        return None
    case.say("look at what only the failing call executes")
    traced: list[str] = []

    def trace(script: str) -> Executed:
        name = f"slice-{len(traced)}"
        traced.append(script)
        seed = shown.seed
        seen = case.runner.observe(run, name, script, None, (seed,), case.buggy, Mode.LINES)
        return seen[seed].executed

    return cause_in_slices(found.script, shown.observation.frames, case.buggy.files, trace)
