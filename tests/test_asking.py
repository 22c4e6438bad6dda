"""A question and its answer are one step: paid for once, of no use once and for all. Questions that
do not depend on one another are asked side by side, the first one alone.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from threading import Barrier

import pytest
from pydantic import BaseModel

from reenact.asking import ask, carry_budget, side_by_side
from reenact.errors import AnswerUnusable, BudgetSpent
from reenact.journal import Journal, Kind
from reenact.llm.ask import Prompt, Reply, Text, Usage
from reenact.llm.budget import Budget
from reenact.llm.patience import Patience
from reenact.llm.recording import Recorder
from reenact.llm.scripted import Scripted

PROMPT = Prompt("test/number", 1, "You answer.", (Text("Which number?"),))


class Number(BaseModel):
    value: int


def small(answer: Number) -> None:
    if answer.value > 9:
        raise ValueError("Give a number of one digit.")


def test_answered_once_and_paid_once() -> None:
    journal = Journal.in_memory()
    reply = Reply('{"value": 3}', "scripted", usage=Usage(70, 5), cost=Decimal("0.02"))
    model = Scripted({"toy/number~1": [reply]})
    for _ in range(2):
        with journal.run(pipeline="toy", request={"n": 1}) as run:
            assert ask(run, model, "number", PROMPT, Number, sample=1) == Number(value=3)
            paid = run.record
    assert len(model.calls) == 1
    assert (paid.money, paid.tokens_in, paid.tokens_out) == ("0.02", 70, 5)
    step = next(step for step in journal.steps(journal.runs()[0]) if step.path == "toy/number~1")
    assert step.kind is Kind.LLM


def test_answer_of_no_use_is_not_asked_for_again() -> None:
    journal = Journal.in_memory()
    model = Scripted(lambda call: {"value": 30}, patience=Patience(bad_answers=2))
    for _ in range(2):
        with (
            pytest.raises(AnswerUnusable),
            journal.run(pipeline="toy", request={"n": 1}) as run,
        ):
            ask(run, model, "number", PROMPT, Number, check=small)
    assert len(model.calls) == 2, "the question and one repair"
    assert "one digit" in model.calls[1].as_text()


def test_a_continued_run_has_one_budget_for_all_its_executions(tmp_path: Path) -> None:
    journal = Journal.in_memory()

    def tell(names: tuple[str, ...]) -> None:
        reply = Reply('{"value": 3}', "scripted", usage=Usage(70, 5), cost=Decimal("0.02"))
        model = Recorder(
            Scripted([reply] * 3, budget=Budget(money=Decimal("0.03"))),
            tmp_path / f"{len(names)}.jsonl",
        )
        with journal.run(pipeline="toy", request={"n": 2}) as run:
            carry_budget(model, run, journal)
            for name in names:
                ask(run, model, name, PROMPT, Number)

    tell(("a",))
    tell(("a", "b"))
    with pytest.raises(BudgetSpent, match=r"0\.04 of 0\.03 US dollars"):
        tell(("a", "b", "c"))


def test_answers_come_in_the_order_of_their_questions_and_at_once() -> None:
    together = Barrier(2, timeout=60)
    asked: list[int] = []

    def answered(question: int) -> int:
        asked.append(question)
        if question:
            assert asked[0] == 0, "what is shared is then in the cache"
            together.wait()
        return 10 * question

    assert side_by_side(answered, [0, 1, 2]) == [0, 10, 20]
    assert side_by_side(answered, []) == []


def test_a_question_that_fails_fails_the_whole() -> None:
    def answered(question: int) -> int:
        if question == 2:
            raise ValueError("no answer")
        return question

    with pytest.raises(ValueError, match="no answer"):
        side_by_side(answered, [0, 1, 2, 3])
