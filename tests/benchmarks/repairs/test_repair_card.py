"""The card on figures made by hand: goals, tables, drawings, and what a run that is not over
says.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.command import keep
from benchmarks.faults.case import Scale
from benchmarks.faults.cases import fault_case
from benchmarks.repairs.card import scorecard
from benchmarks.repairs.figures import Fault
from benchmarks.repairs.repaired import Reference, Repaired
from benchmarks.repairs.runs import merged
from benchmarks.scorecard import Scorecard

CASES = [fault_case(name) for name in ("M1", "D1", "D7")]
ACCURACY = Reference("D1", (0.5, 0.52) * 3, (0.9,) * 6, "test_accuracy", True, 1.0, 20)
ERROR = Reference("D7", (-7.0, -7.2) * 3, (-0.1, -0.2) * 3, "test_loss", False, 1.0, 10)
RUN = Repaired(
    "D1",
    "guided",
    "20",
    0,
    "repaired",
    (0.5,) * 6,
    (0.9,) * 6,
    0.01,
    1,
    1.0,
    1.0,
    15,
    14.0,
    30.0,
)


def fault(reference: Reference, **changed: object) -> Fault:
    after = reference.fixed
    runs = [
        replace(
            RUN,
            case=reference.case,
            strategy=strategy,
            budget=budget,
            repeat=repeat,
            before=reference.faulty,
            after=after,
        )
        for strategy in ("guided", "random")
        for budget in ("10", "20")
        for repeat in range(3)
    ]
    return Fault(reference, tuple(runs), **changed)  # type: ignore[arg-type]


def card(*faults: Fault, over: bool = True) -> Scorecard:
    return scorecard(faults, CASES, {}, Scale.LITE, ("guided", "random"), ("10", "20"), over=over)


def table(card_of: Scorecard, word: str) -> list[dict[str, str]]:
    found = next(one for one in card_of.tables if word in one.title)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_all_goals_stand_beside_what_was_reached() -> None:
    card_of = card(fault(ACCURACY), fault(ERROR))
    assert [goal.name.split(",")[0] for goal in card_of.goals] == [
        "median improvement rate",
        "median improvement rate",
        "faults with a significant patch",
        "changes of significant patches above the known fix",
        "sigma over repeats of the repaired faults",
    ]
    assert all(goal.met for goal in card_of.goals)


def test_only_significant_patches_are_counted_as_large() -> None:
    """A patch that does not hold is not small: it is not one."""
    one = fault(ACCURACY)
    none = replace(
        one,
        runs=tuple(replace(run, decision="nothing-found", complexity=0) for run in one.runs),
    )
    goal = next(goal for goal in card(none).goals if goal.name.startswith("changes"))
    assert (goal.reached, goal.met) == ("no significant patch", None)


def test_before_all_faults_are_run_nothing_is_judged() -> None:
    card_of = card(fault(ACCURACY), over=False)
    assert card_of.figures.startswith("so far, guided at 10")
    assert {goal.met for goal in card_of.goals} == {None}


def test_a_fault_that_failed_is_named_with_its_reason() -> None:
    failed = Fault(Reference("M1", (), (), "accuracy", True, 0.0, 0), (), failed="It crashes.")
    card_of = card(fault(ACCURACY), failed)
    assert table(card_of, "Not run") == [{"fault": "M1", "why": "It crashes."}]
    assert [row["fault"] for row in table(card_of, "guided, budget 20")] == ["D1"]


def test_strategies_of_one_fault_come_together_and_a_failure_stands_apart() -> None:
    one = fault(ACCURACY, trained=10, took=5.0)
    half = {
        way: tuple(run for run in one.runs if run.strategy == way) for way in ("guided", "random")
    }
    found = {f"D1-{way}-0": replace(one, runs=runs) for way, runs in half.items()}
    failed = Fault(ACCURACY, (), failed="HEBO is not installed.")
    together, apart = merged({**found, "D1-hebo-0": failed})
    assert set(together.runs) == set(one.runs)
    assert (together.trained, together.took) == (20, 10.0)
    assert apart.reference.case == "D1-hebo"
    assert table(card(together, apart), "Not run") == [
        {"fault": "D1-hebo", "why": "HEBO is not installed."}
    ]


def test_the_row_of_a_fault_tells_everything_that_the_study_tells() -> None:
    row = table(
        card(fault(ACCURACY, trained=40, cpu_seconds=20.0, took=25.0)),
        "guided, budget 20",
    )[0]
    assert row == {
        "fault": "D1",
        "data": "",
        "faulty": "0.51",
        "fixed": "0.9",
        "repaired": "0.9",
        "sigma": "0.000",
        "IR": "1.00",
        "sign.": "3/3",
        "p over runs": "-",
        "changes": "1.0 (1)",
        "norm.": "0.05",
        "AJ": "1.00",
        "AJ many": "1.00",
        "trainings": "15",
        "s": "30",
        "published best": "1.00 (Random)",
    }


def test_table_nine_stands_beside_ours() -> None:
    rows = table(card(fault(ACCURACY), fault(ERROR)), "Table 9")
    assert [row["fault"] for row in rows] == ["D1", "D7"]
    assert rows[0]["HEBO"] == "0.76 (0.24)*"
    assert rows[0]["AutoTrainer"] == "-"
    assert rows[0]["guided, here"] == "0.51 to 0.9 (0.000)*"


def test_the_drawings_are_files_that_the_page_shows(tmp_path: Path) -> None:
    keep(card(fault(ACCURACY), fault(ERROR)), tmp_path)
    page = (tmp_path / "repair-lite.md").read_text()
    for number in (3, 4, 5):
        name = f"repair-lite-figure-{number}.svg"
        assert f"({name})" in page
        drawn = ElementTree.parse(tmp_path / name).getroot()
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
        text = "".join(drawn.itertext())
        assert "guided" in text
    assert "known fix" in (tmp_path / "repair-lite-figure-4.svg").read_text()
    assert json.loads((tmp_path / "repair-lite.json").read_text())["data"]["facts"]["runs"]
