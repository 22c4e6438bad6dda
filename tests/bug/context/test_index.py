"""The index finds chunks by place, name and words."""

from __future__ import annotations

import math
from pathlib import PurePosixPath

from reenact.bug.context.index import CodeIndex
from reenact.bug.context.rank import K1, B, bm25
from reenact.bug.context.words import count_words, estimate_tokens, words_of


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
