"""`python -m benchmarks trainings` and its aliases as a user meets it: nothing checked out,
wrong words.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.command import bench
from benchmarks.dataset.command import Wanted
from benchmarks.dataset.splits import split_named, splits
from reenact.cli.edge import guarded
from reenact.types import ExitCode

pytestmark = pytest.mark.release


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_checkouts_nothing_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = guarded(bench, ["field", "--cases", str(tmp_path), "--out", str(tmp_path / "out")])
    assert code == ExitCode.INCONCLUSIVE
    assert "no checkout" in (tmp_path / "out" / "field-tune-quick.md").read_text(encoding="utf-8")
    assert "field-tune-quick: recall" in capsys.readouterr().out


def test_repairs_have_a_page_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "field",
        "--repair",
        "--cases",
        str(tmp_path),
        "--out",
        str(tmp_path / "out"),
    ]
    assert guarded(bench, words) == ExitCode.INCONCLUSIVE
    page = (tmp_path / "out" / "field-tune-repair.md").read_text(encoding="utf-8")
    assert "no checkout" in page
    assert "cleanrl" not in page
    assert "at least as good as the author's fix" in capsys.readouterr().out


def test_a_program_of_the_other_half_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        guarded(bench, ["field", "--cases", str(tmp_path), "--only", "nothing"]) == ExitCode.ERROR
    )
    assert "Not programs of the split foreign-tuning" in capsys.readouterr().err


def test_an_alias_is_the_split_under_its_old_name(tmp_path: Path) -> None:
    cards = []
    for words in (
        ["field", "--cases"],
        ["trainings", "--split", "foreign-tuning", "--checkouts"],
    ):
        out = tmp_path / words[0]
        guarded(bench, [*words, str(tmp_path), "--out", str(out)])
        cards.append(json.loads((out / "results" / "field-tune-quick.json").read_bytes()))
    assert cards[0].pop("command") == "python -m benchmarks field --cases DIR"
    assert (
        cards[1].pop("command")
        == "python -m benchmarks trainings --split foreign-tuning --checkouts DIR"
    )
    assert cards[0] == cards[1]


def test_without_a_split_they_are_listed_with_what_a_figure_is_worth(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert guarded(bench, ["trainings"]) == ExitCode.OK
    shown = " ".join(capsys.readouterr().out.split())
    for split in splits().values():
        assert split.name in shown
    assert "training data since 2026-11-17" in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["trainings", "--split", "fifth"], "No split has this name"),
        (
            ["trainings", "--split", "kinds-3", "--only", "nothing"],
            "Not programs of the split kinds-3",
        ),
        (["trainings", "--split", "foreign-tuning", "--others"], "kept here alone"),
        (["modern", "--half", "blind-1"], "is not one of 'tune', 'confirm'"),
    ],
)
def test_what_is_not_there_is_refused(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(bench, words) == ExitCode.ERROR
    assert sentence in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("word", ["ring_gan-3", "ring_gan"])
def test_one_training_is_chosen_by_its_id_or_the_name_that_results_use(
    word: str,
) -> None:
    (training,) = Wanted(split_named("blind-5"), (word,)).trainings
    assert training.id == "ring_gan-3"
    kind, other = ("sound", "faulty") if training.sound else ("faulty", "sound")
    assert Wanted(split_named("blind-5"), (word,), kind).trainings == (training,)
    assert Wanted(split_named("blind-5"), (word,), other).trainings == ()
