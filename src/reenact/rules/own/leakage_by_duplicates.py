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
from collections.abc import Sequence

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Fault, Findings, Needs, Rule, Severity
from reenact.rules.own._lines import function_of, indexes, loops_of, place_in, value_of
from reenact.rules.own._parts import called, is_call, names, options, within

SPLITS = ("train_test_split", "random_split")
CHOSEN = ("flatnonzero", "nonzero", "where", "argwhere")
"""What gives numbers of rows that were chosen by what they hold."""
PLACES = (*CHOSEN, "arange", "range", "len")
"""What gives numbers of rows, or other numbers that are counted up to."""
COPIES = ("resample", "fit_resample")


class LeakageByDuplicates(Rule):
    code, name, family, fault = "RE055", "leakage-by-duplicates", "reenact", Fault.VRM
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.9, Certainty.STRONG
    why = "Copies of one row lie on both sides of the split: split first, then draw from the training rows."

    def check(self, evidence: Evidence) -> Findings:
        for index in indexes(evidence):
            copying = [call for call in index.calls if _copies(index, call)]
            own = {getattr(function_of(index, call), "name", "") for call in copying} - {""}
            # A function of the program that draws is a draw where it is called.
            for draw in (*copying, *(call for call in index.calls if called(call) in own)):
                split = _split_later(index, draw)
                rows = called(draw) in own.union(COPIES) or _made_by(index, draw.args[0], CHOSEN)
                # Two halves of what is drawn are two sets of rows: no batch, no labels or tokens by chance.
                halves = rows and not loops_of(index, draw)
                if split is not None and (is_call(split) or halves):
                    saw = f"{ast.unparse(draw)[:60]} comes before the split in line {split.lineno}"
                    yield self.finding(evidence, saw, place=place_in(index, draw))


def _copies(index: FileIndex, call: ast.Call) -> bool:
    """Whether a call gives rows, or numbers of rows, some of them several times."""
    words = options(call)
    if called(call) in COPIES:
        return words.get("replace", "True") == "True"
    again = called(call) == "choice" and words.get("replace") == "True" and bool(call.args)
    return again and _made_by(index, call.args[0], PLACES)


def _made_by(index: FileIndex, value: ast.expr, makers: Sequence[str]) -> bool:
    parts = [value, *(value_of(index, name) for name in within(value, ast.Name))]
    return any(is_call(node, *makers) for part in parts for node in ast.walk(part))


def _split_later(index: FileIndex, draw: ast.Call) -> ast.expr | None:
    """The split of the rows that were drawn, by a call or by two slices; none where they are not split."""
    around = function_of(index, draw)
    drawn: set[str] = set()
    statements = [one for one in ast.walk(around) if isinstance(one, ast.Assign | ast.Expr)]
    for statement in sorted(statements, key=lambda one: one.lineno):
        if statement.lineno < draw.lineno:
            continue
        nodes = list(ast.walk(statement.value))
        touched = _reads(statement.value, draw, drawn)
        split = next((one for one in nodes if is_call(one, *SPLITS)), None)
        if touched and split is not None:
            return split
        for node in nodes:
            match node:
                case ast.Subscript(rows, ast.Slice(None, ast.expr() as end)) if ast.unparse(rows) in drawn:
                    # `rows[cut:]` beside `rows[:cut]`.
                    rest = f"{ast.unparse(rows)}[{ast.unparse(end)}:]"
                    if any(ast.unparse(one) == rest for one in within(around, ast.Subscript)):
                        return node
                    break
        # Arithmetic makes new rows of them: centres of classes with noise, say.
        counted = any(_reads(node, draw, drawn) for node in within(statement.value, ast.BinOp))
        if touched and not counted and isinstance(statement, ast.Assign):
            drawn |= {name for target in statement.targets for name in names(target)}
    return None


def _reads(value: ast.expr, draw: ast.Call, drawn: set[str]) -> bool:
    """Whether something is computed of what was drawn."""
    return draw in ast.walk(value) or not drawn.isdisjoint(names(value))
