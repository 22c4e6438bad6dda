"""What every model must do. Needs pytest; inherit the suite that fits and give one fixture.

    class TestMyModel(LiveModelSuite):
        @pytest.fixture
        def answering(self) -> Answering:
            return lambda texts: LiveModel(MyWire(texts), clock=ManualClock())

`answering(texts)` opens the model with an other side that gives these raw texts, one for each reply, in
order. ModelSuite holds for replays too; LiveModelSuite adds what only a living conversation has.
"""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import pytest
from pydantic import BaseModel, Field

from reenact.errors import AnswerUnusable
from reenact.llm.ask import (
    Answer,
    Image,
    Model,
    Prompt,
    Request,
    Text,
    answer_from_json,
    answer_to_json,
)
from reenact.redact import redact


class Verdict(BaseModel):
    """The answer that the suites ask for."""

    holds: bool
    why: str = Field(min_length=1)


GOOD = '{"holds": true, "why": "the loss falls \\u2193 to 0.02"}'
CANARY = "canary-7f3d9a1c5e8b2046"
"""Stands in the environment as a key while the suites run; must come out nowhere."""
Answering: TypeAlias = Callable[[Sequence[str]], Model]


def question(
    step: str = "suite/ask", *, sample: int = 0, words: str = "Does it hold?"
) -> Request[Verdict]:
    """A request that the suites ask."""
    return Request(
        step,
        Prompt("suite/ask", 1, "You judge.", (Text(words),)),
        Verdict,
        sample=sample,
    )


class ModelSuite:
    """What holds for every model, living or recorded."""

    @pytest.fixture(autouse=True)
    def canary(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SUITE_API_KEY", CANARY)

    def test_answers_with_the_asked_type(self, answering: Answering) -> None:
        answer = answering([GOOD]).ask(question())
        assert answer.value == Verdict(holds=True, why="the loss falls ↓ to 0.02")
        assert answer.attempts == 1
        assert answer.wording == "same"

    def test_says_what_it_used(self, answering: Answering) -> None:
        answer = answering([GOOD]).ask(question())
        assert answer.usage.input_tokens > 0
        assert answer.usage.output_tokens > 0
        assert answer.cost is None or answer.cost >= 0

    def test_names_itself_without_folders_or_addresses(self, answering: Answering) -> None:
        model = answering([GOOD])
        for name in (model.name, model.ask(question()).model):
            assert name
            assert ":/" not in name
            assert "127.0.0.1" not in name

    def test_answer_survives_json(self, answering: Answering) -> None:
        answer = answering([GOOD]).ask(question())
        written = json.loads(json.dumps(answer_to_json(answer)))
        assert answer_from_json(Verdict, written) == answer

    def test_reads_figures_and_any_alphabet(self, answering: Answering) -> None:
        figure = Image(b"\x89PNG\r\n\x1a\n", label="loss over epochs")
        request = question(words="Größe, 損失, \U0001f4c9: what does the figure show?")
        prompt = Prompt("suite/ask", 1, "You judge.", (*request.prompt.parts, figure))
        asked = Request("suite/ask", prompt, Verdict)
        assert answering([GOOD]).ask(asked).value.holds

    def test_may_be_asked_from_several_threads(self, answering: Answering) -> None:
        model = answering([GOOD] * 4)
        with ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(model.ask, question(sample=sample)) for sample in range(4)]
            answers: list[Answer[Verdict]] = [future.result() for future in asked]
        assert [answer.value.holds for answer in answers] == [True] * 4

    def test_shows_no_secret(self, answering: Answering) -> None:
        model = answering([GOOD])
        answer = model.ask(question(words=f"The key is {CANARY}."))
        assert CANARY not in repr(model) + repr(answer)
        assert redact(CANARY) != CANARY


class LiveModelSuite(ModelSuite):
    """What holds for every model that is really asked."""

    @pytest.mark.parametrize(
        "bad", ["", " \n\t", "I would say yes.", '{"holds": "perhaps"}', '{"holds": tr']
    )
    def test_repairs_a_bad_answer(self, answering: Answering, bad: str) -> None:
        answer = answering([bad, GOOD]).ask(question())
        assert answer.value.holds
        assert answer.attempts == 2

    def test_gives_up_after_a_few_bad_answers(self, answering: Answering) -> None:
        model = answering(['{"holds": true, "why": ""}'] * 9)
        with pytest.raises(AnswerUnusable) as caught:
            model.ask(question())
        assert "why" in caught.value.for_model
        assert not caught.value.retryable

    def test_checks_what_a_schema_cannot_know(self, answering: Answering) -> None:
        def check(verdict: Verdict) -> None:
            if verdict.why == "see missing.py":
                raise ValueError("There is no file missing.py.")

        prompt = Prompt("suite/ask", 1, "You judge.", (Text("Where?"),))
        request = Request("suite/ask", prompt, Verdict, check=check)
        answer = answering(['{"holds": true, "why": "see missing.py"}', GOOD]).ask(request)
        assert answer.attempts == 2
