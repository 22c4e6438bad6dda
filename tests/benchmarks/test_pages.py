"""The pages of the benchmarks and README's evidence are what the results files give, and
nothing else.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest

from benchmarks.bugs.variant import PUBLISHED
from benchmarks.children import ROOT
from benchmarks.command import bench, keep
from benchmarks.faults.cases import published_means
from benchmarks.pages import BLOCK, Site, take_in
from benchmarks.results import (
    UNKNOWN,
    command_line,
    files_identity,
    machine,
    read_result,
    result_of,
    write_result,
)
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share, mean_figure
from reenact.cli.edge import guarded
from reenact.errors import InputError
from reenact.types import ExitCode

CARD = Scorecard(
    "field-fresh-quick",
    "recall 0.50",
    (Goal("recall", ">= 0.6", "0.50", False), Goal("alarms", "<= 5%", "0", True)),
    (Table("Programs", ("program", "named"), (("a|b", "x"),)),),
    measured={
        "recall": Share(3, 4).figure("recall"),
        "precision": Share(1, 2).figure("precision"),
        "alarms": Share(1, 8).figure("false alarms"),
    },
    cases="c" * 64,
)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A copy of the pages."""
    shutil.copytree(ROOT / "docs" / "benchmarks", tmp_path / "docs" / "benchmarks")
    shutil.copy(ROOT / "README.md", tmp_path)
    return Site(tmp_path)


def test_the_pages_are_what_the_results_files_give() -> None:
    assert Site(ROOT).differing() == []
    assert guarded(bench, ["pages", "--check"]) == ExitCode.OK


def test_every_results_file_says_of_what_it_is_and_names_nobody() -> None:
    for name, result in Site(ROOT).results.items():
        assert result.name == name
        assert result.command
        assert result.figures
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", result.day), name
        assert UNKNOWN not in (result.commit, result.cases, result.machine), name
        text = (ROOT / "docs" / "benchmarks" / "results" / f"{name}.json").read_text(
            encoding="utf-8"
        )
        assert not re.search(r"(?<![\w.])/(?:home|root|work|tmp|Users|mnt)/", text), name


def test_a_results_file_does_not_say_where_this_machine_keeps_its_interpreter(
    tmp_path: Path,
) -> None:
    row = ("a", f"No module named 'x' in {sys.executable}. Pass --python PATH")
    card = replace(CARD, tables=(Table("Programs", ("program", "why"), (row,)),))
    text = write_result(result_of(card), tmp_path).read_text(encoding="utf-8")
    assert "No module named 'x' in python. Pass" in text
    assert sys.executable not in text


def test_what_others_published_is_what_the_score_cards_show() -> None:
    known, means = Site(ROOT).published, published_means()
    faults, repairs = known["faults"]["tools"], known["repairs"]["tools"]
    assert {tool: (one["recall"], one["precision"]) for tool, one in faults.items()} == {
        tool: (score.recall, score.precision) for tool, score in means.after["all"].items()
    }
    assert {tool: (one["recall_real"], one["precision_real"]) for tool, one in faults.items()} == {
        tool: (score.recall, score.precision) for tool, score in means.after["real"].items()
    }
    assert {tool: one["rate"] for tool, one in repairs.items()} == means.median_improvement_rate
    assert {tool: one["significant"] for tool, one in repairs.items()} == means.significant_of_30
    assert known["bugs"]["tools"]["RepGen"]["shown"] == PUBLISHED[""]
    assert all(topic["source"] for topic in known.values())


@pytest.mark.release
@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        (
            "README.md",
            "a true fault named in",
            "every fault named in",
            "README.md differs",
        ),
        (
            "README.md",
            "\nEach figure is",
            "\nIt names 99.5 %. Each figure is",
            "figures outside markers",
        ),
        (
            "README.md",
            "\nEach figure is",
            "\nIt names 0.99. Each figure is",
            "figures outside markers",
        ),
        (
            "docs/benchmarks/lint.md",
            "| reenact lint |",
            "| reenact lint, once |",
            "lint.md differs",
        ),
        (
            "docs/benchmarks/lint.md",
            "<!-- end -->",
            "<!-- end -->\n\n| a |\n| --- |",
            "a table outside",
        ),
    ],
)
def test_what_was_written_by_hand_is_seen(
    site: Site, file: str, old: str, new: str, sentence: str
) -> None:
    page = site.root / file
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert any(sentence in wrong for wrong in site.differing()), site.differing()


@pytest.mark.release
def test_another_figure_in_a_results_file_is_seen(site: Site) -> None:
    file = site.folder / "results" / "repair-lite.json"
    facts = json.loads(file.read_bytes())
    facts["figures"]["guided_20_rate"]["value"] = 1.23
    file.write_text(json.dumps(facts), encoding="utf-8")
    assert [one.split()[0] for one in site.differing()] == [
        "README.md",
        "docs/benchmarks/repair-lite.md",
    ]


@pytest.mark.release
def test_a_new_results_file_updates_everything(site: Site, tmp_path: Path) -> None:
    keep(CARD, tmp_path / "out")
    assert list(
        take_in([tmp_path / "out" / "results" / "field-fresh-quick.json"], site.folder)
    ) == [CARD.name]
    pages = {str(file.relative_to(site.root)): text for file, text in site.wanted().items()}
    made = pages["docs/benchmarks/field-fresh-quick.md"]
    assert "**field-fresh-quick: recall 0.50**" in made
    assert "| a\\|b | x |" in made
    assert "| recall | \\>= 0.6 | 0.50 | MISSED |" in made
    assert "on [those after it](docs/benchmarks/field-fresh-quick.md) 1 of 8" in pages["README.md"]
    assert "a false alarm on 14 of 54 sound programs" in pages["README.md"], (
        "10 of 26, 1 of 8 and 3 of 20"
    )
    assert "| 14 of 54 | 0.26 |" in pages["docs/benchmarks/pooled.md"]
    assert "[field-fresh-quick](field-fresh-quick.md) |" in pages["docs/benchmarks/README.md"]
    assert BLOCK.search(made)


def test_a_page_that_asks_for_what_is_not_there_is_a_sentence(site: Site) -> None:
    (site.folder / "lint.md").write_text(
        "<!-- results: nothing -->\n<!-- end -->\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="Received: nothing"):
        site.wanted()


def test_a_file_that_is_no_results_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"name": "x"}', encoding="utf-8")
    with pytest.raises(InputError, match="is not a results file"):
        read_result(tmp_path / "x.json")


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    keep(CARD, tmp_path)
    found = read_result(tmp_path / "results" / f"{CARD.name}.json")
    assert found == result_of(CARD)
    assert (found.cases, found.goals, found.figures) == (
        CARD.cases,
        CARD.goals,
        CARD.measured,
    )
    assert found.met == "1 of 2"


def test_a_command_is_kept_without_defaults_and_paths(tmp_path: Path) -> None:
    words = [
        "--cases",
        str(tmp_path),
        "--half",
        "confirm",
        "--jobs",
        "3",
        "--out",
        str(tmp_path),
    ]
    with click.Context(bench, info_name="benchmarks") as above:
        command = bench.get_command(above, "field")
        assert command is not None
        context = command.make_context("field", words, parent=above)
    assert command_line(context) == "python -m benchmarks field --cases DIR --half confirm --jobs 3"


def test_cases_have_a_hash_and_the_machine_has_no_name() -> None:
    assert files_identity("speed") != files_identity("probe")
    assert files_identity("speed") == files_identity("speed")
    assert files_identity("no such folder") == UNKNOWN
    assert "cores" in machine()
    assert "/" not in machine()


def test_figures_in_words() -> None:
    figure = Share(27, 35).figure("recall")
    assert (
        f"{figure} {figure:count} {figure:interval} {figure:.3f}"
        == "0.77 27 of 35 0.61 to 0.88 0.771"
    )
    assert f"{Figure('nothing', None)} {Figure('nothing', None):count}" == "- -"
    mean = mean_figure("mean", [0.0, 1.0] * 10)
    assert mean.value == 0.5
    assert mean.low is not None
    assert mean.high is not None
    assert 0.2 < mean.low < 0.5 < mean.high < 0.8
    assert mean == mean_figure("mean", [0.0, 1.0] * 10)
