"""Scripts in parts: what is left keeps its words, and edits by line range fit or are refused in
words.
"""

from __future__ import annotations

import ast
from typing import Any

import pytest

from reenact.bug.generate import Edit, Revision, unfenced
from reenact.bug.minimise import inner_bodies, inside_calls, spans, tidied, without
from reenact.journal import Journal

SCRIPT = '''import a
# about x
x = 1; y = 2

@mark
def f(n):
    """Text."""
    z = n
    return z


text = """
# not a comment

"""
if x:
    b = 1
    c = 2
'''


def test_statements_that_share_a_line_stay_together() -> None:
    top = spans(ast.parse(SCRIPT).body)
    assert top == (range(1, 2), range(3, 4), range(5, 10), range(12, 16), range(16, 19))
    inner = ((range(7, 8), range(8, 9), range(9, 10)), (range(17, 18), range(18, 19)))
    assert inner_bodies(SCRIPT) == inner


def test_left_out() -> None:
    assert "def f" not in without(SCRIPT, [range(5, 10)])
    ast.parse(without(SCRIPT, [range(8, 9), range(17, 18)]))


def test_tidied_keeps_what_stands_in_texts() -> None:
    neat = tidied(SCRIPT)
    assert "# about x" not in neat
    assert "# not a comment\n\n" in neat
    assert ast.dump(ast.parse(neat)) == ast.dump(ast.parse(SCRIPT))


def test_edits_apply_from_the_end() -> None:
    old = "one\ntwo\nthree\n"
    edits = [
        Edit(first=1, last=1, text="1\n1b"),
        Edit(first=3, last=2, text="new"),
        Edit(first=3, last=3, text=""),
    ]
    assert Revision(edits=edits).applied_to(old) == "1\n1b\ntwo\nnew\n"


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [Edit(first=9, last=9, text="x")],
        [Edit(first=2, last=0, text="x")],
        [Edit(first=1, last=2, text="x"), Edit(first=2, last=3, text="y")],
    ],
)
def test_edits_that_do_not_fit(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Revision(edits=edits).applied_to("one\ntwo\nthree\n")


def test_fence_is_no_code() -> None:
    assert unfenced("```python\nx = 1\n```") == "x = 1\n"
    assert Revision(script="```\nx = 1\n```\n").applied_to("old") == "x = 1\n"


def test_calls_get_fewer_arguments_and_smaller_sizes() -> None:
    script = 'x = make(64, rate=0.5, sizes=[1, 2, 3, 4, 5])\nshow("é", n=9)\n'
    found = list(inside_calls(script))
    for one in found:
        ast.parse(one)
    assert found[0] == 'x = make(64, sizes=[1, 2, 3, 4, 5])\nshow("é", n=9)\n'
    assert 'x = make(32, rate=0.5, sizes=[1, 2, 3, 4, 5])\nshow("é", n=9)\n' in found
    assert 'x = make(64, rate=0.5, sizes=[1, 2])\nshow("é", n=9)\n' in found
    assert 'x = make(64, rate=0.5, sizes=[1, 2, 3, 4, 5])\nshow("é", n=4)\n' in found
    assert 'x = make(64, rate=0.5, sizes=[1, 2, 3, 4, 5])\nshow("é")\n' in found
    for text, shorter in (
        ("fit(optimiser=Adam(0.01), epochs=3)\n", "fit(optimiser=Adam(0.01))\n"),
        ("fit(\n    a=1,\n    b=2,\n)\n", "fit(\n    a=1,\n)\n"),
        ("fit(\n    a=1,\n    b=2,\n)\n", "fit(\n    b=2,\n)\n"),
        ("fit(n=1)\n", "fit()\n"),
    ):
        assert shorter in list(inside_calls(text))


def test_a_shorter_call_must_still_show_it(toy: Any, in_turn: Any) -> None:
    script = "from acme import Meter\n\nmeter = Meter(window=400)\nmeter.mean()\n"
    found = toy.reproduce(in_turn([script]), minimise=True)
    assert found.script == "from acme import Meter\n\nmeter = Meter()\nmeter.mean()\n"
    needed = "from acme import focal\n\nobserved = focal([0.5] * 64, [1] * 64, gamma=0.0)\n"
    silent = {
        "kind": "silent",
        "sign": "wrong-value",
        "words": "w",
        "check": {"relation": "above", "number": 20},
    }
    toy.journal = Journal.in_memory()
    kept = toy.reproduce(
        in_turn([needed]),
        report="Focal\n\nIt is summed.\n",
        symptom=silent,
        fixed=True,
        minimise=True,
    )
    assert (
        kept.script
        == "from acme import focal\n\nobserved = focal([0.5] * 32, [1] * 32, gamma=0.0)\n"
    )
