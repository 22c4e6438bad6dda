"""The index finds chunks by place, name and words; words of a report meet the forms that code
uses.
"""

from __future__ import annotations

import math
from pathlib import PurePosixPath

from reenact.bug.context.clues import read_clues
from reenact.bug.context.index import (
    SHORT_FORMS,
    WEIGHT,
    CodeIndex,
    count_words,
    estimate_tokens,
    expanded,
    words_of,
)
from reenact.bug.context.rank import K1, B, bm25


def test_identifiers_become_words() -> None:
    assert words_of("LayerNorm") == ("layernorm", "layer", "norm")
    assert words_of("_get_HTTPResponse2") == ("get_httpresponse2", "http", "response2")
    assert words_of("losses") == words_of("loss") == ("loss",)
    assert words_of("training") == ("train",)
    assert words_of("self") == words_of("return") == words_of("x") == ()
    assert count_words("loss.backward() # losses") == {"loss": 2, "backward": 1}


def test_tokens_are_estimated_from_above() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("x" * 320) == 100


def test_chunks_are_found_by_file_line_and_name(code: CodeIndex) -> None:
    path = PurePosixPath("src/mininet/layers/gate.py")
    chunk = code.at(path, 16)
    assert chunk is not None
    assert chunk.name == "Gate"
    assert [one.name for one in code.by_name["forward"]] == ["Gate", "Mixer"]
    assert [one.number for one in code.chunks] == list(range(len(code.chunks)))
    assert code.at(path, 999) is None
    assert code.at(PurePosixPath("nowhere.py"), 1) is None


def test_files_with_training_words_are_known(code: CodeIndex) -> None:
    assert {path.name for path in code.signs} == {"trainer.py"}


def test_tests_are_aside(code: CodeIndex) -> None:
    aside = {one.path.name for one in code.chunks if one.is_aside}
    assert aside == {"test_gate.py"}


def test_bm25_is_the_formula(code: CodeIndex) -> None:
    postings = code.postings
    scores = bm25(postings, {"sharpness": 1.0, "nowhere": 1.0})
    texts = ["\n".join([str(one.path), one.name, one.text]) for one in code.chunks]
    counts = [count_words(text) for text in texts]
    mean = sum(sum(one.values()) for one in counts) / len(counts)
    holding = sum("sharpness" in one for one in counts)
    rarity = math.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5))
    for number, one in enumerate(counts):
        norm = K1 * (1 - B + B * sum(one.values()) / mean)
        expected = rarity * one["sharpness"] * (K1 + 1) / (one["sharpness"] + norm)
        assert math.isclose(scores[number], expected, abs_tol=1e-9)


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
