"""The strategies that need no trace and no model, against the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import InputError, MissingPart
from reenact.repairs.space import space_of
from reenact.repairs.strategies.bohb import Bohb
from reenact.repairs.strategies.guided import Guided
from reenact.repairs.strategies.hebo import Hebo
from reenact.repairs.strategies.random import Random
from reenact.repairs.strategies.strategy import BUILT_IN, Strategy, strategy
from reenact.testing.strategy import StrategyContract, rate_decides, search_context


class TestGuided(StrategyContract):
    @pytest.fixture
    def strategy(self) -> Strategy:
        return Guided()


class TestRandom(StrategyContract):
    @pytest.fixture
    def strategy(self) -> Strategy:
        return Random()


class TestBohb(StrategyContract):
    @pytest.fixture
    def strategy(self) -> Strategy:
        return Bohb()


def test_every_name_leads_to_its_strategy() -> None:
    assert [strategy(name).name for name in BUILT_IN] == list(BUILT_IN)


def test_the_answer_to_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(InputError, match="guided"):
        strategy("gradient-descent")


def test_hebo_says_how_it_is_installed() -> None:
    try:
        import hebo  # type: ignore[import-not-found]  # noqa: F401
    except ImportError:
        with pytest.raises(MissingPart) as refused:
            Hebo().search(search_context(rate_decides, strategy="hebo").context)
        assert "--no-deps" in refused.value.next_step
    else:
        given = search_context(rate_decides, strategy="hebo", budget="6x")
        Hebo().search(given.context)
        assert given.context.evaluations


def test_the_search_is_an_optuna_study_on_disk(tmp_path: Path) -> None:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    given = search_context(rate_decides, strategy="random", studies=tmp_path, budget="8x")
    Random().search(given.context)
    file = tmp_path / "random-0.study"
    kept = optuna.load_study(
        study_name="random-0", storage=JournalStorage(JournalFileBackend(str(file)))
    )
    done = [trial for trial in kept.trials if trial.state is optuna.trial.TrialState.COMPLETE]
    whole = [look for look in given.context.evaluations if look.patch]
    assert [trial.value for trial in done] == [look.score for look in whole]
    assert all("patch" in trial.user_attrs for trial in done)


def test_a_point_that_is_too_expensive_makes_way_for_the_next() -> None:
    """By the random seed of this search a point of many epochs comes before the budget is spent."""
    given = search_context(lambda values: 0.5, strategy="random", budget="12x")
    assert Random().search(given.context) == []
    assert given.context.trainer.usage.spent > 9


def test_a_damaged_study_is_made_again_from_the_same_questions(tmp_path: Path) -> None:
    first = search_context(rate_decides, strategy="bohb", studies=tmp_path, budget="8x")
    Bohb().search(first.context)
    file = tmp_path / "bohb-0.study"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] + b"\0garbage")
    again = search_context(rate_decides, strategy="bohb", studies=tmp_path, budget="8x")
    Bohb().search(again.context)
    assert [look.patch for look in again.context.evaluations] == [
        look.patch for look in first.context.evaluations
    ]
    assert file.stat().st_size > len(whole) // 2


def test_the_space_of_the_study_has_its_learning_rates() -> None:

    given = search_context(rate_decides)
    space = space_of(given.context.hyperparameters, "study")
    rate = next(one for one in space if one.is_range)
    assert (rate.low, rate.high, rate.logarithmic) == (1e-6, 10.0, False)
    epochs = next(one for one in space if one.name.endswith("epochs"))
    assert epochs.values[0] == 12
    assert max(v for v in epochs.values if isinstance(v, int)) <= 12 * 1.3**4 + 1


def test_the_faulty_configuration_is_asked_first(tmp_path: Path) -> None:
    given = search_context(rate_decides, strategy="bohb", studies=tmp_path, budget="8x")
    Bohb().search(given.context)
    first = next(look for look in given.context.evaluations[1:] if look.share < 1)
    assert not first.patch
