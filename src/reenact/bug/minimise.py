"""Make the script as short as the symptom allows: delta debugging over statements, then smaller
calls, every try a real run.

A shorter script must pass the same stages, show the symptom with the same seed, and pass on the
fixed revision where there is one. A silent bug that nothing confirms is left as it is: without the
fixed revision a shorter script may show something else.

A script is taken as statements that can be left out by line range, so that what stays keeps its
words.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reenact.bug.classify import RunOutcome, SeedRun
from reenact.bug.generate import Case
from reenact.bug.reproduction import Attempt, Minimised
from reenact.bug.search import run_with, tried
from reenact.bug.validate.stages import objections
from reenact.journal import Scope
from reenact.trials.ddmin import minimise as fewest

MOST_REFUSED = 5
"""Smaller calls that do not show it after which no further ones are tried."""
_AFTER = re.compile(rb"\A\s*,\s*(?![\s)\]}])")
_BEFORE = re.compile(rb",\s*\Z")
"""The comma that goes with a left out argument: the one after it, or of the last one the one
before it.
"""
LEAST = 3
"""Sizes and numbers up to this are left as they are."""


def minimised(
    case: Case,
    attempt: Attempt,
    run: Scope,
) -> tuple[Attempt, Minimised]:
    """The attempt with a shorter script, proven over all seeds, and what it took."""
    before = len(attempt.script.splitlines())
    same = Minimised(attempt.script, before, before, 0)
    note = "the fixed revision is called in another form" if attempt.forms else ""
    if case.symptom.is_silent and case.fixed is None and not note:
        note = "nothing confirms that a shorter script would show the same"
    if note:
        return attempt, replace(same, note=f"not made shorter: {note}")
    shortening = _Shortening(
        case,
        run,
        next(one for one in attempt.runs if one.shows),
    )
    script = shortening.shortest(attempt.script)
    if script != attempt.script:
        proven = tried(
            case,
            Attempt(attempt.context, attempt.number, script),
            run.under("minimal"),
        )
        if proven.shows and (not _doubt(proven) or _doubt(attempt)):
            return proven, Minimised(
                script,
                before,
                len(script.splitlines()),
                shortening.runs,
            )
    return attempt, replace(same, runs=shortening.runs, note="it is as short as it can be")


def _doubt(attempt: Attempt) -> str:
    """Why the control runs of a script do not tell; empty where they do."""
    if attempt.controls is not None:
        return attempt.controls.doubt
    return ""


@dataclass
class _Shortening:
    """Asks whether a shorter script still does."""

    _case: Case
    _run: Scope
    _shown: SeedRun
    runs: int = 0

    def shortest(self, script: str) -> str:
        """What only prints at once, then top-level statements, then the blocks that are left."""
        body = ast.parse(script).body
        prints = [
            one
            for one in body
            if isinstance(one, ast.Expr) and ast.unparse(one).startswith("print(")
        ]
        silent = without(
            script,
            set(spans(prints)) & set(spans(body)),
        )
        if silent != script and self._does(silent):
            script = silent
        script = self._fewer(
            script,
            spans(ast.parse(script).body),
        )
        for index in range(len(inner_bodies(script))):
            bodies = inner_bodies(script)
            if index < len(bodies):
                script = self._fewer(script, bodies[index])
        # Fewer arguments and smaller sizes in its calls, as long as that does and tries are left.
        refused: set[str] = set()
        while len(refused) < MOST_REFUSED:
            smaller = next(
                (one for one in inside_calls(script) if one not in refused),
                None,
            )
            if smaller is None:
                break
            if self._does(smaller):
                script = smaller
            else:
                refused.add(smaller)
        neat = tidied(script)
        if neat == script or self._does(neat):
            return neat
        return script

    def _fewer(self, script: str, statements: tuple[range, ...]) -> str:
        def suffices(kept: tuple[range, ...]) -> bool:
            return bool(kept) and self._does(
                without(
                    script,
                    set(statements) - set(kept),
                )
            )

        kept = fewest(statements, suffices)
        if len(kept) < len(statements):
            return without(script, set(statements) - set(kept))
        return script

    def _does(self, script: str) -> bool:
        case = self._case
        if not script.strip() or objections(
            script,
            case.project,
            case.symptom,
            case.options.parts,
        ):
            return False
        if self.runs >= case.options.minimise_runs:
            return False
        self.runs += 1
        case.say(f"make it shorter: try {self.runs} of at most {case.options.minimise_runs}")
        place = self._run.under(f"shorter-{hashlib.sha256(script.encode()).hexdigest()[:16]}")
        seeds = (self._shown.seed,)
        seen = run_with(
            case,
            run=place,
            script=script,
            name="buggy",
            seeds=seeds,
        )[0]
        alike = seen.shows and seen.failure == self._shown.failure
        if not alike or case.fixed is None:
            return alike
        return (
            run_with(
                case,
                run=place,
                script=script,
                name="fixed",
                seeds=seeds,
            )[0].outcome
            is RunOutcome.NOTHING
        )


def inside_calls(script: str) -> Iterator[str]:
    """The script with one argument less, half of a listing, or half of a number, in one of its
    calls.
    """
    starts = [0]
    for line in script.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    data = script.encode()

    def cut(
        first: ast.expr | ast.keyword,
        last: ast.expr | ast.keyword,
        new: str,
    ) -> str:
        begin = starts[first.lineno - 1] + first.col_offset
        end = starts[(last.end_lineno or 0) - 1] + (last.end_col_offset or 0)
        if new:
            return (data[:begin] + new.encode() + data[end:]).decode()
        rest = _AFTER.sub(
            b"",
            data[end:],
            count=1,
        )
        before = data[:begin] if rest != data[end:] else _BEFORE.sub(b"", data[:begin])
        return (before + rest).decode()

    calls = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Call)]
    for call in calls:
        yield from (cut(one, one, "") for one in call.keywords if one.arg is not None)
    given = [one for call in calls for one in (*call.args, *(word.value for word in call.keywords))]
    for node in (node for one in given for node in ast.walk(one)):
        if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > LEAST:
            yield cut(
                node.elts[len(node.elts) // 2],
                node.elts[-1],
                "",
            )
        elif isinstance(node, ast.Constant) and type(node.value) is int and node.value > LEAST:
            yield cut(
                node,
                node,
                str(node.value // 2),
            )


def spans(body: Sequence[ast.stmt]) -> tuple[range, ...]:
    """The lines of each statement with its decorators; those that share a line are one."""
    found: list[range] = []
    for statement in body:
        marks = getattr(statement, "decorator_list", [])
        first = min(
            [
                statement.lineno,
                *(mark.lineno for mark in marks),
            ]
        )
        last = statement.end_lineno or first
        if found and first < found[-1].stop:
            first = found.pop().start
        found.append(range(first, last + 1))
    return tuple(found)


def inner_bodies(script: str) -> tuple[tuple[range, ...], ...]:
    """The statements of each block of more than one statement: functions, loops, branches."""
    nodes = [node for node in ast.walk(ast.parse(script)) if not isinstance(node, ast.Module)]
    bodies = [
        getattr(node, part, None) for node in nodes for part in ("body", "orelse", "finalbody")
    ]
    found = (spans(body) for body in bodies if isinstance(body, list))
    return tuple(statements for statements in found if len(statements) > 1)


def without(script: str, gone: Iterable[range]) -> str:
    """The script without these statements."""
    dropped = {number for one in gone for number in one}
    lines = [
        line for number, line in enumerate(script.splitlines(), start=1) if number not in dropped
    ]
    if lines:
        return "\n".join(lines).strip("\n") + "\n"
    return ""


def tidied(script: str) -> str:
    """The script without comments that stand alone and with single blank lines."""
    kept: list[str] = []
    # Nothing within a text that goes over several lines is a comment or a blank line.
    texts = [
        node
        for node in ast.walk(ast.parse(script))
        if isinstance(node, ast.Constant | ast.JoinedStr)
    ]
    spread = [one for one in texts if (one.end_lineno or 0) > one.lineno]
    inside = {line for one in spread for line in range(one.lineno, (one.end_lineno or 0) + 1)}
    for number, line in enumerate(script.splitlines(), start=1):
        if number in inside:
            kept.append(line)
        elif not line.strip().startswith("#") and (line.strip() or kept[-1:] != [""]):
            kept.append(line.rstrip())
    return "\n".join(kept).strip("\n") + "\n"
