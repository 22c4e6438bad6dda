from __future__ import annotations

from collections.abc import Sequence

import pytest

from contracts.model import GOOD, Answering, LiveModelSuite, Verdict, question
from reenact.errors import ReplayMiss
from reenact.llm.ask import Call
from reenact.llm.scripted import Scripted


class TestScripted(LiveModelSuite):
    @pytest.fixture
    def answering(self) -> Answering:
        def open_with(texts: Sequence[str]) -> Scripted:
            return Scripted(list(texts))

        return open_with


def test_answers_by_step() -> None:
    model = Scripted(
        {"a": Verdict(holds=True, why="a"), "b": ["bad", {"holds": False, "why": "b"}]}
    )
    assert model.ask(question("b")).attempts == 2
    assert model.ask(question("a")).value.why == "a"


def test_computed_answers() -> None:
    def answer(call: Call) -> dict[str, object]:
        return {"holds": call.sample > 0, "why": call.step}

    model = Scripted(answer)
    assert model.ask(question("x", sample=1)).value == Verdict(holds=True, why="x")


def test_the_end_of_the_script_is_loud() -> None:
    model = Scripted([GOOD])
    model.ask(question())
    with pytest.raises(ReplayMiss, match=r"no answer left for step suite/ask \(suite/ask v1\)"):
        model.ask(question())
    with pytest.raises(ReplayMiss, match="step other"):
        Scripted({"a": GOOD}).ask(question("other"))
