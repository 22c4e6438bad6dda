"""Words of a report meet the forms that code uses, and no others."""

from __future__ import annotations

from reenact.bug.context.clues import read_clues
from reenact.bug.context.words import SHORT_FORMS, WEIGHT, expanded, words_of


def test_forms_that_the_project_uses_are_added() -> None:
    known = {"resume", "scheduler", "begin", "schedule", "unrelated"}
    words = read_clues("resuming the schedule from the beginning").words
    found = expanded(words, known)
    assert set(found) - set(words) == {"resume", "scheduler", "begin"}
    assert found["resume"] == WEIGHT * words["resum"]


def test_abbreviations_of_the_field() -> None:
    words = read_clues("learning rate").words
    assert "lr" in expanded(words, {"lr"})
    assert "lr" not in expanded(words, {"rate"})
    assert "lr" not in expanded(read_clues("rate").words, {"lr"})
    assert {"learn", "rate"} <= set(expanded({"lr": 1.0}, {"learn", "rate"}))


def test_the_long_forms_are_words_as_the_index_has_them() -> None:
    for long in SHORT_FORMS.values():
        for word in long:
            assert words_of(word) == (word,)
