"""What every strategy must do. A test inherits `StrategyContract` and gives the fixture `strategy`.

The trainings follow a formula: the learning rate decides, everything else does nothing.
"""

import pytest

from reenact.program.hyperparameter import Kind
from reenact.repairs.strategies.strategy import Strategy
from reenact.testing.formula import Suspicion, Values, search_context


def rate_decides(values: Values) -> float:
    """0.9 for a learning rate between 1e-4 and 1e-1, else 0.3."""
    rate = values[Kind.LEARNING_RATE]
    assert isinstance(rate, float)
    return 0.9 if 1e-4 <= rate <= 1e-1 else 0.3


def nothing_helps(values: Values) -> float:  # noqa: ARG001
    """The same, whatever is set."""
    return 0.5


class StrategyContract:
    """Inherit it, give `strategy`."""

    def test_finds_what_helps(self, strategy: Strategy) -> None:
        given = search_context(
            rate_decides, Suspicion(Kind.LEARNING_RATE, 0.001, 0.9), strategy=strategy.name
        )
        found = strategy.search(given.context)
        assert found
        assert given.context.scores(found[:1])[0] == pytest.approx(0.9)

    def test_finds_nothing_where_nothing_helps(self, strategy: Strategy) -> None:
        given = search_context(nothing_helps, strategy=strategy.name)
        assert strategy.search(given.context) == []

    @pytest.mark.parametrize("budget", ["5x", "12x"])
    def test_the_budget_holds_and_the_reserve_stays(self, strategy: Strategy, budget: str) -> None:
        given = search_context(nothing_helps, strategy=strategy.name, budget=budget)
        given.context.reserve = 1.0
        strategy.search(given.context)
        assert given.context.trainer.usage.spent <= float(budget.removesuffix("x")) - 1.0 + 1e-6

    def test_the_same_random_seed_gives_the_same_search(self, strategy: Strategy) -> None:
        tried = []
        for _ in range(2):
            given = search_context(rate_decides, strategy=strategy.name, noise=0.02, chance=3)
            strategy.search(given.context)
            tried.append([look.patch for look in given.context.evaluations])
        assert tried[0] == tried[1]

    def test_what_crashes_is_no_repair(self, strategy: Strategy) -> None:
        given = search_context(
            lambda values: 0.5 if values[Kind.LEARNING_RATE] == 0.5 else None, strategy=strategy.name
        )
        for patch in strategy.search(given.context):
            assert given.context.scores([patch])[0] > 0.5
