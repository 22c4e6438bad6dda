"""What a value is made of and where it goes, asked of a file."""

from __future__ import annotations

import ast
from pathlib import Path

from reenact.program.flow.uses import (
    answers,
    given,
    goes_into,
    handed,
    names_that_reach,
    number,
    objects_of,
    origins,
    reaches,
    spread,
    value_of,
    values_of,
)
from reenact.program.syntax.index import FileIndex, index_of
from reenact.program.syntax.pieces import called, calls_in, place_of, within
from reenact.program.syntax.source import SourceFile
from reenact.program.training.roles import is_loss_call

JUDGE = """
class Judge:
    def make(self, rate=0.1):
        return self(rate)

Judge.make()
Judge().make(0.5)
"""
CALLED = """
class Model:
    def fit(self, rows, rate=0.1):
        return rows, rate

    @staticmethod
    def scaled(rows):
        return rows

def train(rows, *, steps=3):
    return rows

train(first, steps=4)
train(rows=second)
Model().fit(third, 0.5)
Model.scaled(fourth)
"""
FLOWS = """
def step(rows, labels):
    scores = model(rows)
    loss = judge(scores, labels)
    return loss, scores

for batch, truth in loader:
    error, guess = step(batch, truth)
    total = error + penalty
    total.backward()
    seen = guess.argmax(1)
"""
HELPED = """
import lib

class Agent:
    def score(self, rows):
        return rows.mean()

def weighted(rows, weights):
    scaled = rows * weights
    weights = weights / total
    return (scaled * weights).sum()

rows = unrelated()
print(weighted(first, second), weighted(third, weights=fourth))
print(Agent().score(fifth), lib.score(fifth), lib.part(fifth).score(), other(fifth))
"""


def index(text: str) -> FileIndex:
    found = index_of(SourceFile(Path("train.py"), text))
    assert not isinstance(found, str)
    return found


def expression(file: FileIndex, text: str) -> ast.expr:
    """The last place that reads like this."""
    found = [one for one in within(file.tree, ast.expr) if ast.unparse(one) == text]
    return max(found, key=lambda one: (one.lineno, one.col_offset))


def function(file: FileIndex, name: str) -> ast.FunctionDef:
    return next(one for one in within(file.tree, ast.FunctionDef) if one.name == name)


def words(values: list[ast.expr]) -> list[str]:
    return [ast.unparse(value) for value in values]


def test_the_object_of_a_method_is_no_argument_of_a_call() -> None:
    file = index(JUDGE)
    assert given(file, "self") == []
    assert not any(is_loss_call(call) for call in file.calls)


def test_arguments_are_what_calls_hand_over() -> None:
    assert words(given(index(JUDGE), "rate")) == ["0.5"]


def test_by_place_and_by_keyword_in_functions_and_methods() -> None:
    file = index(CALLED)
    assert words(handed(function(file, "train"), "rows")) == ["first", "second"]
    assert words(handed(function(file, "train"), "steps")) == ["4"]
    assert words(handed(function(file, "fit"), "rows")) == ["third"]
    assert words(handed(function(file, "scaled"), "rows")) == ["fourth"]
    assert handed(function(file, "train"), "rate") == []


def test_a_number_is_one_only_where_there_is_one() -> None:
    file = index("a = 0.1\nb = 1\nb = 2\nuse(a, b, c)\n")
    known = [number(arg) for arg in calls_in(file.tree, "use")[0].args]
    assert [one.value if one is not None else None for one in known] == [0.1, None, None]


def test_the_value_in_force_is_the_last_one_before() -> None:
    file = index("x = first()\nx = second()\nuse(x)\nx = third()\n")
    name = calls_in(file.tree, "use")[0].args[0]
    assert called(value_of(name)) == "second"
    assert [called(value) for value in values_of(name)] == ["first", "second", "third"]


def test_an_argument_stands_for_what_calls_hand_over() -> None:
    file = index(HELPED)
    product = expression(file, "rows * weights")
    assert isinstance(product, ast.BinOp)
    assert words(origins(product.left)) == ["first", "third"]
    assert words(list(values_of(product.left))) == ["first", "third"]
    assert words(origins(product.right)) == ["second", "fourth"]
    # Below the line that gives it another value it is that value.
    again = expression(file, "scaled * weights")
    assert isinstance(again, ast.BinOp)
    assert words(origins(again.right)) == ["weights / total"]
    assert words(origins(again.left)) == ["rows * weights"]
    assert words(list(values_of(again.right))) == ["weights / total", "second", "fourth"]
    assert words(origins(product)) == ["rows * weights"]


def test_what_a_function_of_the_file_gives_back() -> None:
    file = index(HELPED)
    made = {ast.unparse(call): words(answers(call)) for call in file.calls}
    assert made["weighted(first, second)"] == ["(scaled * weights).sum()"]
    assert made["Agent().score(fifth)"] == ["rows.mean()"]
    assert made["lib.score(fifth)"] == made["lib.part(fifth).score()"] == []
    assert made["other(fifth)"] == []


def test_a_part_of_what_a_function_gives_is_followed_to_its_return() -> None:
    file = index(FLOWS)
    assert words(list(values_of(expression(file, "guess")))) == ["scores"]


def test_what_goes_into_a_value_and_what_a_value_goes_into() -> None:
    file = index(FLOWS)
    reached = names_that_reach(file, [expression(file, "total")])
    assert {"error", "penalty", "step", "labels", "truth"} <= reached
    assert "seen" not in reached
    loss = expression(file, "judge(scores, labels)")
    assert {"loss", "error", "total"} <= goes_into(loss)
    assert "guess" not in goes_into(loss)


def test_a_value_reaches_an_expression_by_a_variable_or_as_a_part() -> None:
    file = index(FLOWS)
    scores = expression(file, "model(rows)")
    assert reaches(scores, [expression(file, "guess.argmax(1)")])
    assert not reaches(expression(file, "penalty"), [expression(file, "guess.argmax(1)")])
    assert reaches(expression(file, "penalty"), [expression(file, "error + penalty")])


def test_an_object_is_of_the_class_that_made_it() -> None:
    file = index("judge = nn.KLDivLoss()\njudge(a)\nnn.KLDivLoss()(b)\nother(c)\n")
    judged = [bool(objects_of(call.func, "KLDivLoss")) for call in file.calls if call.args]
    assert judged == [True, True, False]


def test_links_are_followed_as_far_as_there_are_rounds() -> None:
    links = [({"c"}, {"d"}), ({"b"}, {"c"}), ({"a"}, {"b"})]
    assert spread({"a"}, links, rounds=2) == {"a", "b", "c"}
    assert spread({"a"}, links) == {"a", "b", "c", "d"}


def test_a_node_knows_where_it_stands() -> None:
    file = index("x = 1\ny = f(\n    x)\n")
    place = place_of(file.calls[0])
    assert (str(place.file), place.line, place.end_line) == ("train.py", 2, 3)
