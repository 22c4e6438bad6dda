from __future__ import annotations

import math
import threading
from decimal import Decimal

import pytest

from contracts.model import GOOD, question
from reenact.errors import AnswerUnusable, BudgetSpent, ModelUnreachable, SettingsError
from reenact.llm.ask import Reply, Transient, Usage
from reenact.llm.budget import Budget, Spent
from reenact.llm.patience import ManualClock
from reenact.llm.scripted import Scripted


def test_calls_are_counted_before_they_are_sent() -> None:
    budget = Budget(calls=2)
    model = Scripted([GOOD] * 5, budget=budget)
    model.ask(question())
    model.ask(question())
    with pytest.raises(BudgetSpent, match="2 of 2 calls") as caught:
        model.ask(question())
    assert len(model.calls) == 2
    assert "--max-calls" in caught.value.next_step


def test_calls_that_fail_count_too() -> None:
    budget = Budget(calls=3)
    model = Scripted([Transient("it answered 500")] * 9, budget=budget)
    with pytest.raises(BudgetSpent):
        model.ask(question())
    assert budget.spent.calls == 3


def test_tokens_stop_the_next_call() -> None:
    budget = Budget(tokens=100)
    model = Scripted([Reply(GOOD, "m", usage=Usage(90, 20))] * 2, budget=budget)
    model.ask(question())
    with pytest.raises(BudgetSpent, match="110 of 100 tokens"):
        model.ask(question())


def test_a_reply_is_charged_before_anybody_reads_it() -> None:
    budget = Budget()
    bad = Reply("no JSON", "m", usage=Usage(5, 5), cost=Decimal("0.01"))
    with pytest.raises(AnswerUnusable):
        Scripted([bad] * 3, budget=budget).ask(question())
    assert budget.spent.tokens == 30
    assert budget.spent.money == Decimal("0.03")


def test_a_reply_that_cannot_be_read_is_charged_by_estimate() -> None:
    budget = Budget()
    model = Scripted([Transient("its reply could not be read", billed=True)] * 6, budget=budget)
    with pytest.raises(ModelUnreachable):
        model.ask(question())
    assert budget.spent.tokens > 0
    assert budget.spent.unpriced == 6


def test_money_stops_the_next_call_and_is_summed_exactly() -> None:
    budget = Budget(money=Decimal("0.30"))
    model = Scripted([Reply(GOOD, "m", usage=Usage(1, 1), cost=Decimal("0.1"))] * 4, budget=budget)
    costs = [model.ask(question()).cost for _ in range(3)]
    assert costs == [Decimal("0.1")] * 3
    with pytest.raises(BudgetSpent, match=r"0\.3 of 0\.30 US dollars"):
        model.ask(question())


def test_wall_time() -> None:
    clock = ManualClock()
    budget = Budget(seconds=10, clock=clock)
    model = Scripted([GOOD] * 2, budget=budget, clock=clock)
    model.ask(question())
    assert budget.seconds_left == 10
    clock.sleep(11)
    with pytest.raises(BudgetSpent, match="11 of 10 seconds"):
        model.ask(question())


def test_what_earlier_executions_used_is_carried_over() -> None:
    budget = Budget(calls=5, money=Decimal(1), seconds=100, clock=ManualClock())
    Scripted([GOOD], budget=budget).carry(Spent(4, 900, Decimal("0.4"), 60, 1))
    assert budget.seconds_left == 40
    assert budget.spent == Spent(4, 900, Decimal("0.4"), 60, 1)
    budget.open_call()
    with pytest.raises(BudgetSpent, match="5 of 5 calls"):
        budget.open_call()


def test_unlimited_is_the_default() -> None:
    budget = Budget()
    budget.open_call()
    assert budget.seconds_left == math.inf
    budget.require_price("openai:x")


def test_unknown_price_is_stated_not_guessed() -> None:
    budget = Budget()
    answer = Scripted([Reply(GOOD, "m", usage=Usage(1, 1))], budget=budget).ask(question())
    assert answer.cost is None
    assert budget.spent.unpriced == 1


def test_a_limit_in_money_needs_a_price() -> None:
    budget = Budget(money=Decimal(1))
    with pytest.raises(SettingsError, match="price of openai:x is not known"):
        budget.require_price("openai:x")
    budget.open_call()
    budget.charge(Usage(1, 1), None, model="openai:y", billed=True)
    with pytest.raises(BudgetSpent, match="openai:y answered at a price that is not known"):
        budget.open_call()


def test_threads_never_send_more_calls_than_allowed() -> None:
    budget = Budget(calls=50)
    refused: list[BudgetSpent] = []

    def spend() -> None:
        for _ in range(20):
            try:
                budget.open_call()
            except BudgetSpent as error:
                refused.append(error)
            else:
                budget.charge(Usage(1, 0), Decimal("0.1"), model="m", billed=True)

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 110
    assert budget.spent.calls == 50
    assert budget.spent.money == Decimal(5)
