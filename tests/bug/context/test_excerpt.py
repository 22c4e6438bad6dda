"""Shortened definitions keep their head and what matters, and say what is missing."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from reenact.bug.context.context import excerpt
from reenact.bug.context.index import estimate_tokens

LINES = [f"    line_{n} = {n} * something_or_other" for n in range(200)]


def test_what_fits_is_whole() -> None:
    assert excerpt(["a", "b"], [], [], 100) == "a\nb"


def test_head_and_focus_are_kept() -> None:
    text = excerpt(LINES, [150, 90], [], 300)
    assert text.startswith(LINES[0])
    assert LINES[150] in text
    assert LINES[90] in text
    assert LINES[40] not in text


def test_documentation_goes_first() -> None:
    text = excerpt(LINES, [], range(6, 100), 400)
    assert LINES[50] not in text
    assert LINES[101] in text


@given(
    st.lists(st.text(alphabet="ab =", max_size=60), min_size=1, max_size=80),
    st.lists(st.integers(0, 79), max_size=5),
    st.integers(1, 400),
)
def test_the_budget_holds_and_every_line_is_shown_or_counted(
    lines: list[str], focus: list[int], most: int
) -> None:
    text = excerpt(lines, [one for one in focus if one < len(lines)], [], most)
    if not text:
        return
    assert estimate_tokens(text) <= most
    shown = text.split("\n")
    missing = [
        int(found[1])
        for line in shown
        if (found := re.fullmatch(r"\s*# \.\.\. (\d+) lines left out \.\.\.", line))
    ]
    assert len(shown) - len(missing) + sum(missing) == len(lines)
