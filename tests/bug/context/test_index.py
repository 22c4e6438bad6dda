"""The index finds, is kept by content, and survives what happens to files."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path, PurePosixPath

import numpy as np

from reenact.bug.context.index import CodeIndex, index_file, load_index, open_index, save_index
from reenact.bug.context.rank import K1, B, bm25
from reenact.bug.context.words import count_words, estimate_tokens, words_of
from reenact.bug.project.files import ProjectFiles, project_files


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
    number = code.at(path, 16)
    assert number is not None
    assert code.chunks[number].name == "Gate"
    assert code.by_name["forward"] == tuple(
        n for n, one in enumerate(code.chunks) if one.name in ("Gate", "Mixer")
    )
    assert code.at(path, 999) is None
    assert code.at(PurePosixPath("nowhere.py"), 1) is None


def test_files_with_training_words_are_known(code: CodeIndex) -> None:
    assert {code.paths[n].name for n in code.signs} == {"trainer.py"}


def test_tests_are_aside(code: CodeIndex) -> None:
    aside = {code.path(n).name for n in range(len(code.chunks)) if code.is_aside(n)}
    assert aside == {"test_gate.py"}


def test_bm25_is_the_formula(code: CodeIndex) -> None:
    postings = code.postings
    scores = bm25(postings, {"sharpness": 1.0, "nowhere": 1.0})
    texts = ["\n".join([str(code.path(n)), one.name, code.text(n)]) for n, one in enumerate(code.chunks)]
    counts = [count_words(text) for text in texts]
    mean = sum(sum(one.values()) for one in counts) / len(counts)
    holding = sum("sharpness" in one for one in counts)
    rarity = math.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5))
    for number, one in enumerate(counts):
        norm = K1 * (1 - B + B * sum(one.values()) / mean)
        expected = rarity * one["sharpness"] * (K1 + 1) / (one["sharpness"] + norm)
        assert math.isclose(scores[number], expected, abs_tol=1e-9)


def test_an_index_comes_back_as_it_was(code: CodeIndex, tmp_path: Path) -> None:
    save_index(tmp_path / "kept", code)
    loaded = load_index(tmp_path / "kept", code.files)
    assert loaded is not None
    assert (loaded.chunks, loaded.signs) == (code.chunks, code.signs)
    assert loaded.postings.words == code.postings.words
    assert np.array_equal(loaded.postings.chunks, code.postings.chunks)
    assert list((tmp_path / "kept").iterdir()) == [index_file(tmp_path / "kept", code.files)]


def test_the_key_follows_the_content_alone(project: Path) -> None:
    def file() -> Path:
        return index_file(project, project_files(project))

    before = file()
    (project / "notes.txt").write_text("other")
    assert file() == before
    (project / "src" / "mininet" / "maths.py").write_text("SLOPE = 1\n")
    changed = file()
    (project / "src" / "mininet" / "maths.py").rename(project / "src" / "mininet" / "sums.py")
    assert len({before, changed, file()}) == 3


def test_a_kept_index_is_used_and_a_torn_one_is_built_again(files: ProjectFiles, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    steps: list[str] = []
    first = open_index(files, kept, lambda progress: steps.append(progress.what))
    assert steps
    steps.clear()
    assert open_index(files, kept, lambda progress: steps.append(progress.what)).chunks == first.chunks
    assert not steps
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    for damage in (whole[: len(whole) // 2], b"", b"junk", whole.replace(b"mininet", b"minimal")):
        file.write_bytes(damage)
        assert open_index(files, kept).chunks == first.chunks
        assert file.read_bytes() == whole


def test_two_processes_may_write_at_once(project: Path, tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from reenact.bug.context.index import open_index;"
        "from reenact.bug.project.files import project_files;"
        "files = project_files(pathlib.Path(sys.argv[1]));"
        "print(len(open_index(files, pathlib.Path(sys.argv[2])).chunks))"
    )
    command = [sys.executable, "-c", program, str(project), str(tmp_path / "kept")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    printed = {one.communicate()[0] for one in running}
    assert [one.returncode for one in running] == [0, 0]
    assert len(printed) == 1
    assert len(list((tmp_path / "kept").iterdir())) == 1
    assert load_index(tmp_path / "kept", project_files(project)) is not None
