"""Make the script as short as the symptom allows: delta debugging over statements, every try a real run.

A shorter script must pass the same stages, show the symptom with the same seed, and pass on the fixed
revision where there is one. A silent bug that nothing confirms is left as it is: without the fixed revision a
shorter script may show something else.
"""

from __future__ import annotations

import hashlib

from reenact.bug.case import Case
from reenact.bug.reproduction import Attempt, Minimised
from reenact.bug.run.classify import Outcome
from reenact.bug.search import run_with, tried
from reenact.bug.statements import Span, inner_bodies, printing, tidied, top_level, without
from reenact.bug.validate.stages import objections
from reenact.journal import Scope
from reenact.trials.ddmin import minimise as fewest


def minimised(case: Case, attempt: Attempt, run: Scope) -> tuple[Attempt, Minimised]:
    """The attempt with a shorter script, proven over all seeds, and what it took."""
    before = len(attempt.script.splitlines())
    if case.symptom.is_silent and case.fixed is None:
        note = "not made shorter: nothing confirms that a shorter script would show the same"
        return attempt, Minimised(attempt.script, before, before, 0, note)
    shortening = _Shortening(case, run, next(one.seed for one in attempt.runs if one.shows))
    script = shortening.shortest(attempt.script)
    if script != attempt.script:
        proven = tried(case, Attempt(attempt.context, attempt.number, script, None), run.under("minimal"))
        if proven.shows:
            return proven, Minimised(script, before, len(script.splitlines()), shortening.runs)
    return attempt, Minimised(attempt.script, before, before, shortening.runs, "it is as short as it can be")


class _Shortening:
    """Asks whether a shorter script still does."""

    def __init__(self, case: Case, run: Scope, seed: int) -> None:
        self._case = case
        self._run = run
        self._seed = seed
        self.runs = 0

    def shortest(self, script: str) -> str:
        """What only prints at once, then top-level statements, then the blocks that are left."""
        silent = without(script, printing(script))
        script = silent if silent != script and self._does(silent) else script
        script = self._fewer(script, top_level(script))
        for index in range(len(inner_bodies(script))):
            bodies = inner_bodies(script)
            if index < len(bodies):
                script = self._fewer(script, bodies[index])
        neat = tidied(script)
        return neat if neat == script or self._does(neat) else script

    def _fewer(self, script: str, spans: tuple[Span, ...]) -> str:
        def suffices(kept: tuple[Span, ...]) -> bool:
            return bool(kept) and self._does(without(script, set(spans) - set(kept)))

        kept = fewest(spans, suffices)
        return without(script, set(spans) - set(kept)) if len(kept) < len(spans) else script

    def _does(self, script: str) -> bool:
        case = self._case
        if not script.strip() or objections(script, case.project, case.symptom, case.options.parts):
            return False
        if self.runs >= case.options.minimise_runs:
            return False
        self.runs += 1
        case.say(f"make it shorter: try {self.runs} of at most {case.options.minimise_runs}")
        place = self._run.under(f"shorter-{hashlib.sha256(script.encode()).hexdigest()[:16]}")
        seeds = (self._seed,)
        if not run_with(case, place, script, case.buggy, "buggy", seeds)[0].shows:
            return False
        if case.fixed is None:
            return True
        fixed = run_with(case, place, script, case.fixed, "fixed", seeds)
        return fixed[0].seen.outcome is Outcome.NOTHING
