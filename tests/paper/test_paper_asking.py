"""Questions that do not depend on one another are asked side by side, the first one alone."""

from __future__ import annotations

from threading import Barrier

import pytest

from reenact.paper.asking import side_by_side


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
