"""RE053 labels-misaligned

What
    Inputs and labels are shuffled by two separate draws.
Why
    Each is brought into another order: no row keeps its own label.
Symptom
    Training improves only by memorising; validation stays at the share of the largest class.
Example
    import numpy as np

    rng = np.random.default_rng(0)
    x, y = np.random.randn(100, 4), np.arange(100) % 3
    rng.shuffle(x)
    rng.shuffle(y)
Instead
    - rng.shuffle(x)
    - rng.shuffle(y)
    + order = rng.permutation(len(x))
    + x, y = x[order], y[order]
Fix safety
    There is nothing to change automatically: one order has to serve both.
Sources
    Documentation of numpy.random.Generator.shuffle.
"""

import ast
import re
from collections.abc import Iterator, Sequence

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Findings, Needs, Rule, Severity
from reenact.rules.own._lines import called, indexes, place_in

SHUFFLES = ("shuffle", "permutation", "randperm", "permute_rows")
LABELS = re.compile(r"(?:^|_)(?:y|t|labels?|targets?|classes)(?:_|$)", re.IGNORECASE)


class LabelsMisaligned(Rule):
    code, name, family, fault = "RE053", "labels-misaligned", "reenact", None
    needs = Needs.SOURCE
    severity = Severity.ERROR
    is_root_cause = True
    confidence = 0.9
    certainty = Certainty.STRONG
    why = "No row keeps its own label."

    def check(self, evidence: Evidence) -> Findings:
        for index in indexes(evidence):
            own = {str(getattr(scope.node, "name", "")) for scope in index.functions if _draws(scope.node)}
            for body in _bodies(index):
                pair = _separate(body, own)
                if pair is not None:
                    saw = f"{pair[0]} and {pair[1]} are shuffled by separate draws"
                    yield self.finding(evidence, saw, place=place_in(index, pair[2]))


def _bodies(index: FileIndex) -> Iterator[Sequence[ast.stmt]]:
    for node in ast.walk(index.tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            yield body


def _draws(function: ast.AST) -> bool:
    """A function that brings its only argument into a new order by chance."""
    arguments = getattr(function, "args", None)
    if not isinstance(function, ast.FunctionDef) or arguments is None or len(arguments.args) != 1:
        return False
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    seeded = any("seed" in ast.unparse(call) or called(call) == "default_rng" for call in calls)
    return not seeded and any(called(call) in SHUFFLES for call in calls)


def _separate(body: Sequence[ast.stmt], own: set[str]) -> tuple[str, str, ast.stmt] | None:
    """Inputs that are shuffled, and labels in one of the next statements, nothing between that says how."""
    first: str | None = None
    for statement in body:
        name = _shuffled(statement, own)
        if name is None:
            if "seed" in ast.unparse(statement):
                first = None
            continue
        if first is not None and first != name and LABELS.search(name) and not LABELS.search(first):
            return first, name, statement
        first = name
    return None


def _shuffled(statement: ast.stmt, own: set[str]) -> str | None:
    """The variable that a statement brings into a new order of its own."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Expr) and isinstance(value, ast.Call) and called(value) == "shuffle":
        one = value.args[0] if len(value.args) == 1 and not value.keywords else None
        return one.id if isinstance(one, ast.Name) else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return None
    target = statement.targets[0].id
    if (
        isinstance(value, ast.Call)
        and called(value) in own
        and [ast.unparse(one) for one in value.args] == [target]
    ):
        return target
    if isinstance(value, ast.Subscript) and ast.unparse(value.value) == target:
        drawn = value.slice
        fresh = isinstance(drawn, ast.Call) and called(drawn) in SHUFFLES and "seed" not in ast.unparse(drawn)
        return target if fresh else None
    return None
