"""Scores that need no model: lineage, edits, execution, the human form, code quality."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.intake.papers.paper import Paper
from reenact.paper.evaluate.people import (
    DIMENSIONS,
    empty_form,
    human_scores,
    read_form,
)
from reenact.paper.evaluate.quality import quality_of, read_code
from reenact.paper.evaluate.scores import (
    Cited,
    Edits,
    Ended,
    cited_as,
    cited_of,
    edit_scores,
    executed_score,
    lineage_score,
    read_cited,
)


def cited(*names: str) -> list[Cited]:
    return [cited_as(name) for name in names]


def test_recall_and_hits_count_the_first_and_the_shared() -> None:
    expert = cited("Alpha Nets", "Beta Nets", "Gamma Nets")
    score = lineage_score(cited("beta  nets", "Alpha-Nets", "Delta Nets"), expert)
    assert (score.k, score.n, score.top1, score.hits) == (3, 3, True, 2)


def test_papers_are_the_same_by_key_title_or_arxiv(paper: Paper, tmp_path: Path) -> None:
    (found,) = cited_of(paper, ["ruiz2020", "nobody"])
    assert found & cited_as("Plain Averages: means of weights")
    assert cited_as("arXiv:2001.00001v2") & cited_as("2001.00001")
    listed = tmp_path / "expert.txt"
    listed.write_text("# mine\n- ruiz2020\n\nAnother Paper\n")
    assert list(read_cited(listed)) == cited("ruiz2020", "Another Paper")
    result = tmp_path / "result.json"
    result.write_text(
        json.dumps({"data": {"exemplars": [{"key": "ruiz2020", "title": "Plain Averages"}]}})
    )
    assert read_cited(result)[0] == cited_as("ruiz2020", "Plain Averages")


@pytest.mark.parametrize("text", ["", "[]", '{"else": 1}', "[3]", "{"])
def test_lists_that_are_none_give_a_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "list.json"
    file.write_text(text)
    with pytest.raises(InputError):
        read_cited(file)


def test_edits_are_counted_by_stage_and_purpose() -> None:
    first: Edits = (
        ("method", "debugging", 30),
        ("method", "debugging", 30),
        ("method", "refinement", 10),
    )
    second: Edits = (("method", "debugging", 30),)
    debugging, refinement = edit_scores([first, second])
    assert (debugging.turns, debugging.lines) == (1.5, 30.0)
    assert (refinement.turns, refinement.lines) == (0.5, 10.0)


def test_failures_have_the_gap_one() -> None:
    score = executed_score(80.0, [Ended(80.0), Ended(40.0), Ended(None)])
    assert score is not None
    assert score.rate == pytest.approx(2 / 3)
    assert score.gap == pytest.approx((0 + 0.5 + 1) / 3)
    assert score.gap_executed == pytest.approx(0.25)
    assert executed_score(80.0, []) is None
    failed = executed_score(1.0, [Ended(None)])
    assert failed is not None
    assert (failed.rate, failed.gap, failed.gap_executed) == (0.0, 1.0, None)


def test_empty_form_is_read_as_open_and_a_filled_one_as_scored(tmp_path: Path) -> None:
    file = tmp_path / "form.toml"
    file.write_text(empty_form('A "quoted" title'))
    form = read_form(file)
    assert form.title == 'A "quoted" title'
    assert form.scores == (None,) * len(DIMENSIONS)
    assert form.total is None
    assert human_scores([form])[-1].mean is None
    text = file.read_text()
    for score in ("8", "4.5", "3"):
        text = text.replace('score = ""', f"score = {score}", 1)
    file.write_text(text)
    assert read_form(file).total == 15.5
    other = tmp_path / "other.toml"
    other.write_text(text.replace("score = 8", "score = 6"))
    overall = human_scores([read_form(file), read_form(other)])[-1]
    assert (overall.mean, overall.raters) == (14.5, 2)
    assert overall.spread == pytest.approx(2**0.5)


@pytest.mark.parametrize("score", ["11", "-1", '"many"', "true"])
def test_scores_out_of_range_are_refused(tmp_path: Path, score: str) -> None:
    file = tmp_path / "form.toml"
    file.write_text(empty_form("").replace('score = ""', f"score = {score}", 1))
    with pytest.raises(InputError, match=r"\[method\] must be a number from 0 to 10"):
        read_form(file)


def test_quality_counts_lint_types_and_repeats() -> None:
    block = "".join(f"value_{number} = {number}\n" for number in range(8))
    files = {
        "a.py": f"import os\n\n\ndef f(self, x: int, y) -> int:\n    return x\n\n\n{block}",
        "b.py": f"# a comment\n{block}",
        "c.py": "def broken(:\n",
    }
    found = quality_of(files)
    assert found.unparsed == ("c.py",)
    assert found.lint is not None
    assert dict(found.rules)["F401"] == 1
    assert found.typed == pytest.approx(2 / 3)
    assert found.repeated == pytest.approx(16 / found.lines)


def test_code_is_read_within_bounds_and_notes_what_it_left_out(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("x = 1\n")
    (tmp_path / "huge.py").write_text("y = 2\n" * 40_000)
    (tmp_path / "blob.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "link.py").symlink_to("/etc/hostname")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "z.py").write_text("z = 3\n")
    project, left_out = read_code(tmp_path)
    assert list(project.files) == ["main.py"]
    assert len(left_out) == 2


def test_a_folder_without_code_gives_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no code")
    with pytest.raises(InputError, match="no Python code"):
        read_code(tmp_path)
    with pytest.raises(InputError, match="no folder of code"):
        read_code(tmp_path / "nowhere")
