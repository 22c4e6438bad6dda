"""The bench without its pipeline: cases, variants, the card, goals, facts, and what is not
recorded.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchmarks.papers.card import scorecard
from benchmarks.papers.case_result import CaseResult
from benchmarks.papers.cases import PaperCase, chosen_cases, load_cases
from benchmarks.papers.facts import entries, entry_cases
from benchmarks.papers.matching import Recalled
from benchmarks.papers.measure import measure
from benchmarks.papers.runner import BenchRunner, CaseRun
from benchmarks.papers.variant import LEAVABLE, ONE_SHOT, WHOLE, Variant, variants_of
from reenact.errors import InputError
from reenact.journal import Journal
from reenact.paper.measure.verdict import Verdict
from reenact.paper.options import PaperOptions
from reenact.sandbox.choose import choose
from reenact.types import ExitCode

FITS = Recalled(must=10, found=9, missed=("H7",), taken=10, right=10, extra=(), grounded=10)


@pytest.fixture
def case(folder: Path) -> PaperCase:
    return load_cases(folder)[0]


def result(case: PaperCase, variant: Variant = WHOLE, **more: Any) -> CaseResult:
    facts: dict[str, Any] = {
        "verdict": Verdict.REPRODUCED,
        "reason": "All hold.",
        "executed": True,
        "measured": 0.08,
        "gap": 0.01,
        "recalled": FITS,
        "passed": 9,
        "failed": 1,
        "tokens_in": 1000,
        "tokens_out": 100,
        "at_o3": Decimal("0.01"),
        "seconds": 3.0,
    }
    return CaseResult(case.id, variant.name, 0, **(facts | more))


def met(card: Any) -> dict[str, bool | None]:
    return {goal.name: goal.met for goal in card.goals}


def test_all_goals_met(case: PaperCase) -> None:
    false = replace(case, folder=case.folder.with_name("false"), expected=Verdict.NOT)
    card = scorecard([case, false], [WHOLE], [result(case), result(false, verdict=Verdict.NOT)])
    assert set(met(card).values()) == {True}
    assert card.exit_code is ExitCode.OK
    assert "2 of 2 tellings with their true verdict" in card.figures


@pytest.mark.parametrize(
    ("more", "missed"),
    [
        ({"executed": False, "gap": 1.0, "measured": None}, "runs that execute"),
        ({"gap": 0.05}, "gap to the reference"),
        (
            {"recalled": Recalled(10, 8, ("a", "b"), 10, 10, (), 10)},
            "recall of the worst fingerprint",
        ),
        (
            {"recalled": Recalled(10, 10, (), 10, 8, ("a", "b"), 10)},
            "precision of the worst fingerprint",
        ),
        (
            {"recalled": Recalled(10, 10, (), 10, 10, (), 9)},
            "quotes that stand in the paper",
        ),
        (
            {"at_o3": Decimal("1.88")},
            "US dollars of the dearest run at o3-mini's prices",
        ),
        ({"verdict": Verdict.PARTLY}, "true verdicts"),
    ],
)
def test_each_goal_can_be_missed(case: PaperCase, more: dict[str, Any], missed: str) -> None:
    card = scorecard([case], [WHOLE], [result(case, **more)])
    assert met(card)[missed] is False
    assert card.exit_code is ExitCode.FOUND


def test_nothing_recorded_meets_and_misses_nothing(case: PaperCase, tmp_path: Path) -> None:
    with Journal.in_memory() as journal:
        runner = BenchRunner(journal, choose(trust_code=True), tmp_path / "cache")
        card = measure([case], runner, variants=variants_of(["lineage"], [ONE_SHOT]), runs=2)
    assert set(met(card).values()) == {None}
    assert card.figures == "not recorded"
    assert card.exit_code is ExitCode.INCONCLUSIVE
    rows = card.tables[0].rows
    assert [row[0] for row in rows] == [
        "the whole method",
        "without lineage",
        "one-shot",
    ]
    assert {row[1] for row in rows} == {"not recorded"}


def test_means_are_over_cases_of_means_over_runs(case: PaperCase) -> None:
    runs = [
        result(case, gap=0.0),
        result(case, gap=1.0, executed=False),
        result(case, gap=0.5),
    ]
    row = scorecard([case], [WHOLE], runs).tables[0].rows[0]
    assert row[2:5] == ("66.7 %", "50.0 %", "25.0 %")


def test_an_omission_shows_only_without_lineage_and_repair(folder: Path) -> None:
    file = folder / "slow-slopes" / "case.toml"
    omission = (
        'parameter = "rate"\nvalue = 0.05\ndefault = 0.001\nexpected_without = "not reproduced"\n'
    )
    file.write_text(f"{file.read_text()}\n[omission]\n{omission}")
    (case,) = load_cases(folder)
    both, one = variants_of(["lineage+repair", "lineage"])[1:]
    assert result(case, both).expected(case, both) is Verdict.NOT
    assert result(case, both).false_claim(case, both)
    assert result(case, one).true_verdict(case, one)
    shot = variants_of([], [ONE_SHOT])[1]
    assert result(case, shot).true_verdict(case, shot), (
        "a baseline is held to the truth about the paper"
    )


def test_a_baseline_alone_has_a_card_of_its_own(case: PaperCase) -> None:
    shot = variants_of([], [ONE_SHOT])[1]
    card = scorecard([case], [shot], [result(case, shot), result(case, shot, verdict=Verdict.NOT)])
    assert card.name == "papers-one-shot"
    assert card.figures.startswith("1 of 2 tellings with their true verdict")
    assert card.goals == ()
    assert "Peers, on other papers" not in [table.title for table in card.tables]


def test_every_way_has_a_recording_of_its_own() -> None:
    variants = variants_of([*LEAVABLE, "lineage+repair"], [ONE_SHOT], range(6))
    names = {variant.recording(run) for variant in variants for run in range(3)}
    assert len(names) == 3 * len(variants)
    assert WHOLE.recording(0) == "whole.jsonl"
    assert Variant(("lineage", "repair")).recording(1) == "without-lineage-repair-2.jsonl"


def test_variants_change_the_options_and_nothing_else() -> None:
    options = Variant(("lineage", "repair")).options(PaperOptions())
    assert (options.parts.lineage, options.repair, options.parts.scan) == (
        False,
        False,
        True,
    )
    assert Variant(rounds=0).options(PaperOptions()).rounds == 0
    shot = Variant(baseline=ONE_SHOT).options(PaperOptions())
    assert not any((shot.parts.lineage, shot.parts.fingerprint, shot.parts.debug, shot.repair))
    assert WHOLE.options(PaperOptions()) == PaperOptions()
    with pytest.raises(InputError, match="no part 'luck'"):
        variants_of(["lineage+luck"])


def test_a_part_left_out_is_run_or_recorded_without_the_whole() -> None:
    only = variants_of(["lineage+repair"], whole=False)
    assert [one.name for one in only] == ["without lineage and repair"]
    assert variants_of(whole=False) == variants_of() == (WHOLE,)


def test_the_case_decides_goal_seeds_and_scale(case: PaperCase, tmp_path: Path) -> None:
    with Journal.in_memory() as journal:
        runner = BenchRunner(journal, choose(trust_code=True), tmp_path)
        options = runner.options_for(CaseRun(case, WHOLE))
        inputs = runner.inputs(CaseRun(case, WHOLE, 1))
        (case.folder / "criteria.toml").touch()
        (case.folder / "recordings").mkdir()
        (case.folder / "recordings" / "whole.jsonl").write_text("x")
        changed = runner.inputs(CaseRun(case, WHOLE))
    assert (options.seeds, options.scale, options.goal.method, options.data) == (
        2,
        1.0,
        "Slow Slopes",
        None,
    )
    assert inputs["case"] == changed["case"], "a recording is no part of the case"  # type: ignore[index, call-overload]
    assert inputs["recording"] != changed["recording"]  # type: ignore[index, call-overload]


def test_recording_needs_a_model(tmp_path: Path) -> None:
    with (
        Journal.in_memory() as journal,
        pytest.raises(InputError, match="none is named"),
    ):
        BenchRunner(journal, choose(trust_code=True), tmp_path, record=True)


@pytest.mark.parametrize(
    ("file", "old", "new", "word"),
    [
        ("case.toml", "seeds = 2", "seeds = 0", "seeds"),
        ("case.toml", "seeds = 2", "seeds = 2\nunknown = 1", "unknown"),
        ("case.toml", 'expected = "reproduced"', 'expected = "perhaps"', "expected"),
        ("case.toml", "[goal]", "[goal", "no readable case.toml"),
        ("criteria.toml", 'id = "H01"', "", "criteria.toml"),
    ],
)
def test_cases_that_are_wrong_give_a_sentence(
    folder: Path, file: str, old: str, new: str, word: str
) -> None:
    path = folder / "slow-slopes" / file
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=word):
        load_cases(folder)


def test_cases_by_name(folder: Path, tmp_path: Path) -> None:
    assert chosen_cases(folder, ["slow-slopes"])[0].title == "Slow Slopes"
    with pytest.raises(InputError, match="no paper case 'fast'"):
        chosen_cases(folder, ["fast"])
    with pytest.raises(InputError, match="no paper case"):
        load_cases(tmp_path / "cases" / "slow-slopes")


def test_reproducebench_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REENACT_DATA", raising=False)
    assert len(entries()) == 13
    assert all({"paper", "data"} <= set(one.missing()) for one in entries())
    with pytest.raises(InputError, match="missing paper, data"):
        entry_cases(["dkd"])
    place = tmp_path / "papers" / "dkd"
    (place / "data").mkdir(parents=True)
    (place / "paper.pdf").write_bytes(b"%PDF")
    monkeypatch.setenv("REENACT_DATA", str(tmp_path))
    (dkd,) = [one for one in entries() if one.name == "dkd"]
    assert set(dkd.missing()) <= {"GPU"}
    with pytest.raises(InputError, match="no entry 'luck'"):
        entry_cases(["luck"])


def test_facts_of_reproducebench_are_those_published() -> None:
    values = {one.method: one.value for one in entries()}
    assert (values["SimVP"], values["TDGNN-w"], values["DAT-S"]) == (
        26.19,
        0.7651,
        38.48,
    )
    assert sum(one.lines for one in entries()) == 12047
