"""Labels come from samples, not from what a mutant is called; plans are fair in any part."""

from __future__ import annotations

import math

from benchmarks.detector.dataset import dataset
from benchmarks.detector.gather import Row, as_good, in_turns
from benchmarks.detector.plan import SEEDS, base_programs, harmless, plan
from reenact.faults.fault_type import FaultType


def test_as_good_means_within_the_tolerance() -> None:
    assert as_good((0.90, 0.92), (0.90,))
    assert not as_good((0.90, 0.92), (0.80,))
    assert not as_good((0.90, 0.92), (-math.inf,))


def test_a_plan_holds_originals_variants_single_and_double_faults() -> None:
    programs = base_programs()[-2:]
    planned = plan(programs)
    assert sum(one.original for one in planned) == 2
    assert {len(one.operators) for one in planned} == {0, 1, 2}
    assert all(one.seeds == SEEDS for one in planned if one.operators)
    assert len(plan(programs, quick=True)) < len(planned)
    assert all(list(harmless(program)) for program in programs)


def test_trials_come_base_by_base_in_turns() -> None:
    programs = base_programs()[-2:]
    first = [trial.program.entry.stem for trial in in_turns(plan(programs))[:6]]
    assert first == [programs[0].entry.stem, programs[1].entry.stem] * 3


def test_classes_with_too_little_to_learn_from_are_left_out() -> None:
    rows = [
        Row(
            f"base{number % 3}",
            f"mutant{number}",
            frozenset({fault}),
            1,
            {"x": float(number)},
        )
        for number in range(24)
        for fault in ((FaultType.HLR, FaultType.ARM)[number % 2],)
    ]
    rows.append(Row("base0", "rare", frozenset({FaultType.LCH}), 1, {"x": 0.0}))
    found = dataset(rows)
    assert [one.code for one in found.classes] == ["LD001", "LD003"]
    assert found.y.sum(axis=0).tolist() == [12, 12]
    assert found.x.shape == (25, 1)
