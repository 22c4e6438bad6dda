"""From what every detector statements to goals and tables; and which layer an activation is counted at."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.command import bench
from benchmarks.faults.answers import activation_index, answer_by
from benchmarks.faults.calibration import statements_of
from benchmarks.faults.calibration import table as calibration_table
from benchmarks.faults.case import Scale, Side
from benchmarks.faults.case_result import PIPELINE, QUICK, CaseResult
from benchmarks.faults.cases import catalogue, published_means
from benchmarks.faults.verdict import scorecard
from reenact.diagnosis.options import Depth
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.registry import FAMILIES, chosen
from reenact.program.program import program_from_text
from reenact.program.static_graph import static_graph
from reenact.types import ExitCode

STUDY = [case for case in catalogue() if case.study]
SEPARATE = """from keras.models import Sequential
from keras.layers import Dense, Activation, Dropout
model = Sequential()
model.add(Dense(8, input_shape=(4,)))
model.add(Activation("relu"))
model.add(Dropout(0.1))
model.add(Dense(1))
model.add(Activation("softmax"))
model.compile(loss="binary_crossentropy", optimizer="adam")
"""


def result(case: str, side: Side, statements: list[tuple[str, int | None]]) -> CaseResult:
    answers = dict.fromkeys((*FAMILIES, QUICK, PIPELINE), statements)
    return CaseResult(case, side, answers, {"plain": 10.0, "quick": 12.0, "pipeline": 60.0})


def right(case) -> list[tuple[str, int | None]]:
    return [
        (sorted(spot.faults)[0].value, min(spot.layers) if spot.layers else None)
        for spot in case.truth
    ]


def card(buggy: list[CaseResult], fixed: list[CaseResult]):
    return scorecard([*buggy, *fixed], STUDY, {}, Scale.LITE, Depth.NORMAL, published_means())


def test_the_truth_meets_every_goal() -> None:
    found = card(
        [result(case.id, Side.BUGGY, right(case)) for case in STUDY],
        [result(case.id, Side.FIXED, []) for case in STUDY],
    )
    assert [goal.met for goal in found.goals] == [True] * 5
    assert found.exit_code is ExitCode.OK
    assert "recall 1.00, precision 1.00, F3 1.00" in found.figures


def test_accusing_the_fixed_twins_misses_a_goal() -> None:
    found = card(
        [result(case.id, Side.BUGGY, right(case)) for case in STUDY],
        [result(case.id, Side.FIXED, [("HLR", None)]) for case in STUDY],
    )
    assert [goal.met for goal in found.goals] == [True, True, True, False, True]


def test_too_few_programs_judge_no_goal() -> None:
    few = STUDY[:17]
    found = scorecard(
        [result(case.id, Side.BUGGY, right(case)) for case in few],
        STUDY,
        {case.id: "data missing" for case in STUDY[17:]},
        Scale.LITE,
        Depth.NORMAL,
        published_means(),
    )
    assert found.exit_code is ExitCode.INCONCLUSIVE
    assert len(found.tables[-1].rows) == len(STUDY) - 17


@pytest.mark.parametrize(("layer", "index", "counted"), [("dense_1", 3, 4), ("dense", 0, 1)])
def test_an_activation_layer_of_its_own_is_counted_there(
    layer: str, index: int, counted: int
) -> None:
    program = program_from_text(SEPARATE)
    evidence = Evidence(program, static_graph(program))
    assert activation_index(evidence, layer, index) == counted


def test_a_softmax_over_one_unit_is_answered_at_its_layer() -> None:
    program = program_from_text(SEPARATE)
    evidence = Evidence(program, static_graph(program))
    assert (FaultType.ACH, 4) in answer_by(chosen(("RE001",)), evidence)


def test_two_families_say_what_either_says() -> None:
    case = next(case for case in STUDY if len(case.truth) >= 2)
    answers: dict[str, list[tuple[str, int | None]]] = {
        name: [] for name in (*FAMILIES, QUICK, PIPELINE)
    }
    first, second, *_ = right(case)
    answers |= {"umlaut": [first], "neuralint": [second]}
    found = card(
        [
            CaseResult(
                case.id,
                Side.BUGGY,
                answers,
                {"plain": 1.0, "quick": 1.0, "pipeline": 1.0},
            )
        ],
        [],
    )
    rows = {
        row[0]: row
        for table in found.tables
        if table.title == "Families together"
        for row in table.rows
    }
    assert len(rows) == 7 * 6 // 2 + 2
    alone = {row[0]: row for row in found.tables[0].rows}
    recall = {
        name: float({**alone, **rows}[name][1])
        for name in ("umlaut", "neuralint", "umlaut + neuralint")
    }
    assert 0 < recall["umlaut"] < recall["umlaut + neuralint"]
    assert 0 < recall["neuralint"] < recall["umlaut + neuralint"]
    assert rows["all families"][1:4] == rows["umlaut + neuralint"][1:4]


def test_a_confidence_is_held_against_the_truth() -> None:
    case = next(case for case in STUDY if case.id == "M1")
    buggy = CaseResult(case.id, Side.BUGGY, {}, reported=[("HLR", 0.95), ("LCH", 0.55)])
    twin = CaseResult(case.id, Side.FIXED, {}, reported=[("HLR", 0.95)])
    statements = [
        *statements_of(buggy.reported, case, fixed=False),
        *statements_of(twin.reported, case, fixed=True),
    ]
    assert [one.right for one in statements] == [True, False, False]
    rows = calibration_table(statements).rows
    assert rows[1] == ("0.9 to 1.0", "2", "0.95", "0.50")
    assert rows[-1][0].startswith(
        f"all: Brier {(0.05**2 + 0.55**2 + 0.95**2) / 3:.3f}, of the mere share 0.222"
    )


def test_a_depth_alone_is_enough_for_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2 has no data here, so that nothing is trained: what is asked for is read and the card
    is written.
    """
    for name in ("REENACT_RUNS_DIR", "REENACT_CACHE_DIR", "REENACT_DATA"):
        monkeypatch.setenv(name, str(tmp_path / name))
    done = CliRunner().invoke(
        bench, ["faults", "D2", "--depth", "quick", "--out", str(tmp_path / "out")]
    )
    assert "Invalid value" not in done.output
    assert "data missing" in (tmp_path / "out" / "faults-lite-quick.md").read_text()
