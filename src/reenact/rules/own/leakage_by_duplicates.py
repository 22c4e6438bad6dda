"""RE055 leakage-by-duplicates

What
    Rows are drawn with replacement, and the copies are split into training and test data afterwards.
Why
    Copies of one row come to lie on both sides: the model is tested on rows that it was trained on.
Symptom
    Test results that are far too good, best for the class that was drawn most often.
Example
    import numpy as np
    from sklearn.model_selection import train_test_split

    x, y = np.random.randn(200, 4), np.arange(200) % 10 == 0
    rare, rest = np.flatnonzero(y), np.flatnonzero(~y)
    rows = np.concatenate([rest, np.random.choice(rare, len(rest), replace=True)])
    x, y = x[rows], y[rows]
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2)
Instead
    - rows = np.concatenate([rest, np.random.choice(rare, len(rest), replace=True)])
    - x, y = x[rows], y[rows]
      x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2)
    + rare, rest = np.flatnonzero(y_train), np.flatnonzero(~y_train)
    + rows = np.concatenate([rest, np.random.choice(rare, len(rest), replace=True)])
    + x_train, y_train = x_train[rows], y_train[rows]
Fix safety
    Safe for the training, which gets other rows; the test results change, they were wrong.
Sources
    Kapoor and Narayanan, "Leakage and the reproducibility crisis in machine-learning-based science",
    Patterns 2023 (duplicates); documentation of imbalanced-learn, "Common pitfalls".
"""

import ast
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Fault, Findings, Needs, Rule, Severity
from reenact.rules.own._lines import called, function_of, indexes, is_in_loop, place_in, value_of

SPLITS = ("train_test_split", "random_split")
CHOSEN = ("flatnonzero", "nonzero", "where", "argwhere")
"""What gives numbers of rows that were chosen by what they hold."""
PLACES = (*CHOSEN, "arange", "range", "len")
"""What gives numbers of rows, or other numbers that are counted up to."""
COPIES = ("resample", "fit_resample")


class LeakageByDuplicates(Rule):
    code, name, family, fault = "RE055", "leakage-by-duplicates", "reenact", Fault.VRM
    needs = Needs.SOURCE
    severity = Severity.ERROR
    confidence = 0.9
    certainty = Certainty.STRONG
    why = "Copies of one row lie on both sides of the split: split first, then draw from the training rows."

    def check(self, evidence: Evidence) -> Findings:
        for index in indexes(evidence):
            copying = [call for call in index.calls if _copies(index, call)]
            own = {getattr(function_of(index, call), "name", "") for call in copying} - {""}
            # A function of the program that draws is a draw where it is called.
            for draw in (*copying, *(call for call in index.calls if called(call) in own)):
                split = _split_later(index, draw)
                if split is not None and (isinstance(split, ast.Call) or _may_be_cut(index, draw, own)):
                    saw = f"{ast.unparse(draw)[:60]} comes before the split in line {split.lineno}"
                    yield self.finding(evidence, saw, place=place_in(index, draw))


def _copies(index: FileIndex, call: ast.Call) -> bool:
    """Whether a call gives rows, or numbers of rows, some of them several times."""
    words = {word.arg: ast.unparse(word.value) for word in call.keywords}
    if called(call) in COPIES:
        return words.get("replace", "True") == "True"
    if called(call) != "choice" or words.get("replace") != "True" or not call.args:
        return False
    return _made_by(index, call.args[0], PLACES)


def _made_by(index: FileIndex, value: ast.expr, names: Sequence[str]) -> bool:
    return any(
        isinstance(node, ast.Call) and called(node) in names
        for name in ast.walk(value)
        for node in ast.walk(value_of(index, name) if isinstance(name, ast.Name) else name)
    )


def _may_be_cut(index: FileIndex, draw: ast.Call, own: set[str]) -> bool:
    """Whether two halves of what is drawn are two sets of rows: no batch, no labels or tokens by chance."""
    rows = called(draw) in own.union(COPIES) or _made_by(index, draw.args[0], CHOSEN)
    return rows and not is_in_loop(index, draw)


def _split_later(index: FileIndex, draw: ast.Call) -> ast.expr | None:
    """The split of the rows that were drawn, by a call or by two slices; none where they are not split."""
    around = function_of(index, draw)
    drawn: set[str] = set()
    for statement in sorted(_statements(around), key=lambda one: one.lineno):
        value = getattr(statement, "value", None)
        if statement.lineno < draw.lineno or value is None:
            continue
        nodes = list(ast.walk(value))
        touched = draw in nodes or any(isinstance(node, ast.Name) and node.id in drawn for node in nodes)
        split = next((one for one in nodes if isinstance(one, ast.Call) and called(one) in SPLITS), None)
        if touched and split is not None:
            return split
        cut = next((node for node in nodes if _cut(node) and ast.unparse(node.value) in drawn), None)
        if cut is not None and any(_completes(node, cut) for node in ast.walk(around)):
            return cut
        # Arithmetic makes new rows of them: centres of classes with noise, say.
        counted = [node for node in nodes if isinstance(node, ast.BinOp) and _of(node, draw, drawn)]
        if touched and not counted:
            drawn |= {name for target in getattr(statement, "targets", ()) for name in _names(target)}
    return None


def _of(sum_: ast.BinOp, draw: ast.Call, drawn: set[str]) -> bool:
    """Whether arithmetic is done with what was drawn."""
    return any(node is draw or (isinstance(node, ast.Name) and node.id in drawn) for node in ast.walk(sum_))


def _cut(node: ast.AST) -> TypeGuard[ast.Subscript]:
    """`rows[:cut]`."""
    part = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(part, ast.Slice) and part.lower is None and part.upper is not None


def _completes(node: ast.AST, cut: ast.Subscript) -> bool:
    """`rows[cut:]` beside `rows[:cut]`."""
    part, first = node.slice if isinstance(node, ast.Subscript) else None, cut.slice
    if not isinstance(node, ast.Subscript) or not isinstance(part, ast.Slice) or part.lower is None:
        return False
    end = first.upper if isinstance(first, ast.Slice) else None
    same = ast.unparse(node.value) == ast.unparse(cut.value) and part.upper is None
    return same and end is not None and ast.unparse(part.lower) == ast.unparse(end)


def _statements(around: ast.AST) -> Iterator[ast.Assign | ast.Expr]:
    return (node for node in ast.walk(around) if isinstance(node, ast.Assign | ast.Expr))


def _names(target: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
