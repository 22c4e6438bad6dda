"""Scripts in parts: what is left keeps its words, and edits by line range fit or are refused in words."""

from __future__ import annotations

import ast

import pytest

from reenact.bug.generate import Edit, Revision, unfenced
from reenact.bug.minimise import inner_bodies, spans, tidied, without

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
