"""No test depends on how fast the machine is: no deadlines, no comparison with the clock, no
short waits.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
WAITING = HERE / "waiting.py"
"""The one file that may compare the clock: waiting for another process ends by its limit only
in a hang.
"""
PROGRAMS = ("corpus", "corpus_bad", "golden")
"""Folders of programs that tests read or train: they are not tests."""

CLOCKS = {
    f"{clock}{unit}"
    for clock in ("time", "monotonic", "perf_counter", "process_time", "thread_time")
    for unit in ("", "_ns")
}
NAMES_THE_CLOCK = re.compile(r"\btime\s*\.|\bfrom\s+time\b")
MEASURED = {"duration", "elapsed", "elapsed_s", "wall_s", "took", "took_s"}
"""Attributes that hold measured seconds: more than nothing may be asserted of them, a bound may
not.
"""
WAITS = {"wait", "join"}
PROCESS_WAITS = {"communicate", "run", "check_output", "wait_procs"}
SHORTEST_LIMIT_S = 600
LONGEST_PAUSE_S = 1
"""Up to here a wait in an assertion is one that is to end without what it waits for."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def test_no_test_depends_on_the_speed_of_the_machine() -> None:
    complaints = [
        f"{file.relative_to(HERE)}:{line}: {complaint}"
        for file in sorted(HERE.rglob("*.py"))
        if file != WAITING and not set(file.relative_to(HERE).parts) & set(PROGRAMS)
        for line, complaint in complaints_about(file.read_text(encoding="utf-8"))
    ]
    assert complaints == []


def test_every_profile_of_hypothesis_is_without_a_deadline() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    assert settings.get_profile("fixed").deadline is None
    assert settings.get_profile("search").deadline is None


BAD = {
    "a deadline": "@settings(max_examples=5, deadline=200)\ndef test(): ...",
    "a deadline of a profile": "settings.register_profile('mine', deadline=timedelta(seconds=1))",
    "a difference of clocks": "assert time.monotonic() - began < 3",
    "a clock by its own name": "from time import perf_counter\nassert perf_counter() < end",
    "a variable": "a = time.time()\nwork()\ntook = time.time() - a\nassert took <= 1",
    "a variable of a variable": "a = time.time()\nb = work() - a\nassert 2 > b",
    "a ratio": "a = time.process_time()\nassert a / other < 1.5",
    "a helper": (
        "def seconds():\n    return time.time() - began\ndef test():\n    assert seconds() < 1"
    ),
    "a loop that ends by the clock": (
        "end = time.time() + 9\nwhile x and time.time() < end:\n    go()"
    ),
    "an approximation": "a = time.time()\nassert time.time() - a == pytest.approx(1, abs=0.1)",
    "a measured attribute": "assert run().elapsed < 5",
    "a measured attribute turned round": "assert 5 >= run().wall_s",
    "a short wait": "assert process.wait(30) == 0",
    "a short wait of a process": "process.communicate(timeout=60)",
    "a short wait by its name": "assert process.communicate(timeout=60)[0] == 'x'",
}
GOOD = {
    "no deadline": "@settings(max_examples=5, deadline=None)\ndef test(): ...",
    "a clock that is given": "over = Stop(10.0, began=time.monotonic() - 11)\nassert over == 3",
    "a clock that is printed": "began = time.time()\nprint(time.time() - began)",
    "a duration that exists": "assert run().wall_s > 0",
    "a count": "assert len(lines) < 3",
    "a pause that must pass": "assert not Stop().wait(0.01)",
    "a long wait": "assert process.wait(LONGEST_S) == 0\nassert other.wait(600)",
    "a name of another function": "def one():\n    a = time.time()\ndef two(a):\n    assert a < 3",
}


@pytest.mark.parametrize("example", BAD)
def test_a_bound_in_seconds_is_seen(example: str) -> None:
    assert list(complaints_about(BAD[example])) != []


@pytest.mark.parametrize("example", GOOD)
def test_what_holds_on_every_machine_is_let_pass(example: str) -> None:
    assert list(complaints_about(GOOD[example])) == []


def complaints_about(text: str) -> Iterator[tuple[int, str]]:
    tree = ast.parse(text)
    yield from _deadlines(tree)
    yield from _bounds_of_measured_attributes(tree)
    yield from _short_waits(tree)
    if not NAMES_THE_CLOCK.search(text):
        # Most files: the search for what comes from it, scope by scope, takes most of the time.
        return
    clocks = _functions_that_return_the_clock(tree)
    for scope in _scopes(tree):
        yield from _comparisons_with_the_clock(scope, clocks)


def _deadlines(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for call in _calls(tree):
        for keyword in call.keywords:
            of_hypothesis = _name(call.func) in ("settings", "register_profile")
            if of_hypothesis and keyword.arg == "deadline" and ast.unparse(keyword.value) != "None":
                yield (
                    call.lineno,
                    "hypothesis ends examples by the clock; write deadline=None or nothing",
                )


def _comparisons_with_the_clock(scope: ast.AST, clocks: set[str]) -> Iterator[tuple[int, str]]:
    timed = _names_from_the_clock(scope, clocks)
    for node in _within(scope):
        if not isinstance(node, ast.Compare):
            continue
        is_identity = all(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops)
        if not is_identity and _reads_the_clock(node, timed, clocks):
            yield (
                node.lineno,
                "compares with the clock; use waiting.wait_until, or assert what was done",
            )


def _bounds_of_measured_attributes(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """An upper bound: `run.elapsed < 5`, `5 > run.elapsed`."""
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.Assert):
            continue
        for compared in ast.walk(statement.test):
            if not isinstance(compared, ast.Compare):
                continue
            sides = [compared.left, *compared.comparators]
            for left, operator, right in zip(sides, compared.ops, sides[1:], strict=False):
                smaller = left if isinstance(operator, ast.Lt | ast.LtE) else right
                is_bound = isinstance(operator, ORDER) and _is_measured(smaller)
                if is_bound:
                    yield (
                        compared.lineno,
                        "bounds measured seconds; print them in a benchmark",
                    )


def _is_measured(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in MEASURED


def _short_waits(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """For a process anywhere, since their end by the limit is an error; for an event in
    assertions only.
    """
    asserted = {
        call for node in ast.walk(tree) if isinstance(node, ast.Assert) for call in _calls(node)
    }
    for call in _calls(tree):
        name = _name(call.func)
        limits = [word.value for word in call.keywords if word.arg == "timeout"]
        if name in WAITS and call in asserted:
            limits.extend(call.args)
        numbers = [limit.value for limit in limits if isinstance(limit, ast.Constant)]
        is_wait = name in WAITS or name in PROCESS_WAITS
        if is_wait and any(_is_short(number) for number in numbers):
            yield (
                call.lineno,
                f"waits less than {SHORTEST_LIMIT_S} s; use waiting.LONGEST_S",
            )


def _is_short(number: object) -> bool:
    return isinstance(number, int | float) and LONGEST_PAUSE_S < number < SHORTEST_LIMIT_S


def _functions_that_return_the_clock(tree: ast.Module) -> set[str]:
    """By name, those that call such functions included."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    clocks = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        for alias in node.names
        if alias.name in CLOCKS
    }
    while True:
        more = {
            function.name
            for function in functions
            for node in _within(function)
            if isinstance(node, ast.Return)
            and node.value is not None
            and _reads_the_clock(node.value, _names_from_the_clock(function, clocks), clocks)
        }
        if more <= clocks:
            return clocks
        clocks |= more


def _names_from_the_clock(scope: ast.AST, clocks: set[str]) -> set[str]:
    """Variables of a scope whose values come from the clock, directly or by another such
    variable.
    """
    timed: set[str] = set()
    while True:
        more = {
            name.id
            for node in _within(scope)
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr)
            and node.value is not None
            and _reads_the_clock(node.value, timed, clocks)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            for name in ast.walk(target)
            if isinstance(name, ast.Name)
        }
        if more <= timed:
            return timed
        timed |= more


def _reads_the_clock(expression: ast.AST, timed: set[str], clocks: set[str]) -> bool:
    """Whether the value is made of the clock by arithmetic; what a function does with it is its
    own.
    """
    if isinstance(expression, ast.Call):
        function = expression.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return function.value.id == "time" and function.attr in CLOCKS
        if isinstance(function, ast.Name) and function.id in (
            "min",
            "max",
            "abs",
            "round",
            "float",
            "int",
        ):
            return any(_reads_the_clock(argument, timed, clocks) for argument in expression.args)
        return isinstance(function, ast.Name) and function.id in clocks
    if isinstance(expression, ast.Name):
        return expression.id in timed
    return any(_reads_the_clock(part, timed, clocks) for part in ast.iter_child_nodes(expression))


def _scopes(tree: ast.Module) -> Iterator[ast.AST]:
    yield tree
    yield from (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    )


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """What is written in a scope, without the functions inside it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, FUNCTIONS):
            yield from _within(child)


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
