"""From what every detector said to goals and tables; and which layer an activation is counted at."""

from __future__ import annotations

import pytest

from reenact.bench.faults.answers import activation_index, answer_by
from reenact.bench.faults.case import Scale, Side
from reenact.bench.faults.cases import catalogue, published_means
from reenact.bench.faults.diagnosed import QUICK, STORY, Told
from reenact.bench.faults.verdict import scorecard
from reenact.diagnose.depth import Depth
from reenact.program.fault import Fault
from reenact.program.program import program_from_text
from reenact.program.static_graph import static_graph
from reenact.rules.evidence import Evidence
from reenact.rules.registry import FAMILIES, chosen
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


def told(case: str, side: Side, said: list[tuple[str, int | None]]) -> Told:
    answers = dict.fromkeys((*FAMILIES, QUICK, STORY), said)
    return Told(case, side, answers, {"plain": 10.0, "quick": 12.0, "story": 60.0})


def right(case) -> list[tuple[str, int | None]]:
    return [(sorted(spot.faults)[0].value, min(spot.layers) if spot.layers else None) for spot in case.truth]


def card(buggy: list[Told], fixed: list[Told]):
    return scorecard([*buggy, *fixed], STUDY, {}, Scale.LITE, Depth.NORMAL, published_means())


def test_the_truth_meets_every_goal() -> None:
    found = card(
        [told(case.id, Side.BUGGY, right(case)) for case in STUDY],
        [told(case.id, Side.FIXED, []) for case in STUDY],
    )
    assert [goal.met for goal in found.goals] == [True] * 5
    assert found.exit_code is ExitCode.OK
    assert "recall 1.00, precision 1.00, F3 1.00" in found.figures


def test_accusing_the_fixed_twins_misses_a_goal() -> None:
    found = card(
        [told(case.id, Side.BUGGY, right(case)) for case in STUDY],
        [told(case.id, Side.FIXED, [("HLR", None)]) for case in STUDY],
    )
    assert [goal.met for goal in found.goals] == [True, True, True, False, True]


def test_too_few_programs_judge_no_goal() -> None:
    few = STUDY[:17]
    found = scorecard(
        [told(case.id, Side.BUGGY, right(case)) for case in few],
        STUDY,
        {case.id: "data missing" for case in STUDY[17:]},
        Scale.LITE,
        Depth.NORMAL,
        published_means(),
    )
    assert found.exit_code is ExitCode.INCONCLUSIVE
    assert len(found.tables[-1].rows) == len(STUDY) - 17


@pytest.mark.parametrize(("layer", "index", "counted"), [("dense_1", 3, 4), ("dense", 0, 1)])
def test_an_activation_layer_of_its_own_is_counted_there(layer: str, index: int, counted: int) -> None:
    program = program_from_text(SEPARATE)
    evidence = Evidence(program, static_graph(program))
    assert activation_index(evidence, layer, index) == counted


def test_a_softmax_over_one_unit_is_answered_at_its_layer() -> None:
    program = program_from_text(SEPARATE)
    evidence = Evidence(program, static_graph(program))
    assert (Fault.ACH, 4) in answer_by(chosen(("RE001",)), evidence)
