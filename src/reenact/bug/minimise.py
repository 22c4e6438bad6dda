"""Make the script as short as the symptom allows: delta debugging over statements, every try a real run.

A shorter script must pass the same stages, show the symptom with the same seed, and pass on the fixed
revision where there is one. A silent bug that nothing confirms is left as it is: without the fixed revision a
shorter script may show something else.

A script is taken as statements that can be left out by line range, so that what stays keeps its words.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reenact.bug.case import Case
from reenact.bug.reproduction import Attempt, Minimised
from reenact.bug.run.classify import RunOutcome
from reenact.bug.search import run_with, tried
from reenact.bug.validate.stages import objections
from reenact.journal import Scope
from reenact.trials.ddmin import minimise as fewest


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Lines of one statement (or of several that share a line), counted from 1, both ends included."""

    first: int
    last: int


def top_level(script: str) -> tuple[Span, ...]:
    """The statements at the top of a script."""
    return _spans(ast.parse(script).body)


def printing(script: str) -> tuple[Span, ...]:
    """Statements at the top that only print."""
    body = ast.parse(script).body
    calls = [node for node in body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    named = [node for node in calls if ast.unparse(node.value).startswith("print(")]
    return tuple(
        span for span in _spans(body) if any(span == Span(one.lineno, one.end_lineno or 0) for one in named)
    )


def inner_bodies(script: str) -> tuple[tuple[Span, ...], ...]:
    """The statements of each block of more than one statement: functions, loops, branches."""
    found = []
    for node in ast.walk(ast.parse(script)):
        for part in ("body", "orelse", "finalbody"):
            body = getattr(node, part, None)
            if isinstance(node, ast.Module) or not isinstance(body, list) or len(body) < 2:
                continue
            found.append(_spans(body))
    return tuple(spans for spans in found if len(spans) > 1)


def without(script: str, gone: Iterable[Span]) -> str:
    """The script without these statements, and without the blank lines and comments that stood alone."""
    dropped = {number for span in gone for number in range(span.first, span.last + 1)}
    lines = [line for number, line in enumerate(script.splitlines(), start=1) if number not in dropped]
    return "\n".join(lines).strip("\n") + "\n" if lines else ""


def tidied(script: str) -> str:
    """The script without comments that stand alone and with single blank lines."""
    kept: list[str] = []
    inside = _string_lines(script)
    for number, line in enumerate(script.splitlines(), start=1):
        if number not in inside and (
            line.strip().startswith("#") or (not line.strip() and kept[-1:] == [""])
        ):
            continue
        kept.append(line.rstrip() if number not in inside else line)
    return "\n".join(kept).strip("\n") + "\n"


def _string_lines(script: str) -> set[int]:
    """Lines within a text that goes over several: nothing there is a comment or a blank line."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno is not None:
            found |= set(range(node.lineno, node.end_lineno + 1)) if node.end_lineno > node.lineno else set()
    return found


def _spans(body: Sequence[ast.stmt]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for statement in body:
        marks = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(mark.lineno for mark in marks)])
        span = Span(first, statement.end_lineno or first)
        if spans and span.first <= spans[-1].last:
            span = Span(spans.pop().first, span.last)
        spans.append(span)
    return tuple(spans)


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
        return fixed[0].seen.outcome is RunOutcome.NOTHING
