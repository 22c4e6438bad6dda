"""Large results are cut, and say that they are."""

from __future__ import annotations

from reenact.diagnosis.llm_detector import WHY
from reenact.mcp.run_service import ITEMS, TEXT, shortened


def test_long_texts_and_lists_say_how_much_is_left_out() -> None:
    short = shortened(
        {
            "text": "x" * (TEXT + 7),
            "list": list(range(ITEMS + 3)),
            "looks": [1],
            "deep": [[[[[[[1]]]]]]],
        }
    )
    assert short["text"].endswith("(7 more letters)")
    assert short["list"][-1] == "(3 more)"
    assert "looks" not in short
    assert "more)" in str(short["deep"])


def test_a_finding_keeps_what_was_seen_where_and_what_to_change() -> None:
    witness = {
        "code": "NL004",
        "name": "constant",
        "saw": "ones",
        "why": "They stay equal.",
    }
    change = {"knob": "fc1.init", "new": "kaiming"}
    finding = {
        "witnesses": [witness],
        "suggestions": [change],
        "file": "a.py",
        "line": 3,
        "score": 0.9,
    }
    short = shortened({"findings": [finding], "symptoms": [], "doubts": [1]}, "diagnose")
    assert short["findings"] == [
        {"code": "NL004", "name": "constant", "message": "ones. They stay equal."}
        | {"change": "fc1.init = kaiming", "file": "a.py", "line": 3, "score": 0.9}
    ]
    assert "doubts" not in short


def test_opinions_of_a_model_are_answered_apart_from_findings() -> None:
    witness = {"code": "MD001", "name": "model-opinion", "saw": "2 of 5 answers: slow", "why": WHY}
    opinion = {"witnesses": [witness], "file": "a.py", "line": 3, "score": 0.3}
    short = shortened({"findings": [], "opinions": [opinion]}, "diagnose")
    assert short["findings"] == []
    assert [one["code"] for one in short["opinions"]] == ["MD001"]
    assert "nothing was executed" in short["opinions"][0]["message"]


def test_what_no_command_is_known_for_stays_whole() -> None:
    assert shortened({"a": [1], "b": "x"}, "mutate") == {"a": [1], "b": "x"}
