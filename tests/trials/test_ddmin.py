from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reenact.trials.ddmin import minimise


@given(st.integers(0, 24), st.data())
def test_exactly_the_needed_changes_remain(size: int, data: st.DataObject) -> None:
    needed = (
        data.draw(st.sets(st.integers(0, max(size - 1, 0)), max_size=min(4, size)))
        if size
        else set()
    )
    changes = list(range(size))
    assert set(minimise(changes, lambda part: needed <= set(part))) == needed


@given(st.integers(1, 12), st.data())
def test_no_single_change_of_the_result_can_be_left_out(size: int, data: st.DataObject) -> None:
    """Also where the question is not monotone: any of several groups may suffice."""
    groups = data.draw(
        st.lists(st.sets(st.integers(0, size - 1), min_size=1), min_size=1, max_size=3)
    )

    def suffices(part: tuple[int, ...]) -> bool:
        return any(group <= set(part) for group in groups)

    result = minimise(range(size), suffices)
    assert suffices(result)
    for index in range(len(result)):
        assert not suffices(result[:index] + result[index + 1 :])


def test_no_question_is_asked_twice_and_a_single_culprit_is_found_fast() -> None:
    asked: list[tuple[int, ...]] = []

    def suffices(part: tuple[int, ...]) -> bool:
        asked.append(part)
        return 37 in part

    assert minimise(range(64), suffices) == (37,)
    assert len(asked) == len(set(asked))
    assert len(asked) <= 2 * 6 + 1


def test_order_is_kept() -> None:
    assert minimise("abcdef", lambda part: {"e", "b"} <= set(part)) == ("b", "e")
