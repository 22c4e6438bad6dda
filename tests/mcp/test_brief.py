"""Large results are cut, and say that they are."""

from __future__ import annotations

from reenact.mcp.brief import ITEMS, TEXT, cut, in_brief


def test_long_texts_and_lists_say_how_much_is_left_out() -> None:
    told = cut(
        {"text": "x" * (TEXT + 7), "list": list(range(ITEMS + 3)), "looks": [1], "deep": [[[[[[[1]]]]]]]}
    )
    assert told["text"].endswith("(7 more letters)")
    assert told["list"][-1] == "(3 more)"
    assert "looks" not in told
    assert "more)" in str(told["deep"])


def test_a_finding_keeps_what_was_seen_where_and_how_sure() -> None:
    witness = {"code": "NL004", "name": "constant", "saw": "ones", "why": "equal", "suggestions": [1]}
    finding = {"witnesses": [witness], "file": "a.py", "line": 3, "confidence": 0.9, "standing": "untried"}
    told = in_brief("diagnose", {"findings": [finding], "symptoms": [], "doubts": [1]})
    assert told["findings"] == [
        {"code": "NL004", "name": "constant", "saw": "ones", "why": "equal", "file": "a.py", "line": 3}
        | {"confidence": 0.9, "standing": "untried"}
    ]
    assert "doubts" not in told


def test_a_verdict_that_is_no_table_stays_as_it_is() -> None:
    assert in_brief("tale", "well") == {"verdict": "well"}
