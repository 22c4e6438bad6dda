"""What an edit may change is what its finding is about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_evidence import trace
from reenact.diagnosis.fixes.kept import Kept, Part, difference, may_change
from reenact.probe.trace import Columns
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import HyperparameterId, Kind
from reenact.program.patch import Patch

BEFORE = Kept(
    steps=40,
    rows=1280,
    owned=((3, 16), (16, 8)),
    trained=((3, 16), (16, 8)),
    judged=(64,),
    metrics=frozenset({"accuracy"}),
)


@pytest.mark.parametrize(
    ("part", "change", "words"),
    [
        (Part.STEPS, {"steps": 41}, "it takes 41 steps in place of 40"),
        (Part.ROWS, {"rows": 1279}, "models are given 1279 rows in place of 1280"),
        (Part.TRAINED, {"owned": ((3, 16),)}, "the optimizer has 1 tensors in place of 2"),
        (
            Part.TRAINED,
            {"trained": ((3, 16), (1, 1))},
            "no gradient reaches 1 of the tensors that were trained",
        ),
        (Part.JUDGED, {"judged": ()}, "no rows judge in place of 64"),
        (Part.METRICS, {"metrics": frozenset()}, "the metric accuracy is no longer logged"),
    ],
)
def test_each_part_counts_unless_the_finding_is_about_it(
    part: Part, change: dict[str, object], words: str
) -> None:
    after = replace(BEFORE, **change)  # type: ignore[arg-type]
    assert difference(BEFORE, after, ()) == words
    assert difference(BEFORE, after, {part}) == ""


def test_what_is_the_same_or_was_not_counted_is_no_difference() -> None:
    assert difference(BEFORE, BEFORE, ()) == ""
    unknown = replace(BEFORE, rows=None, owned=None, trained=None, judged=None)
    assert difference(BEFORE, unknown, ()) == ""
    assert difference(BEFORE, replace(BEFORE, metrics=frozenset({"accuracy", "f1"})), ()) == ""
    dead = replace(BEFORE, trained=((3, 16),))
    assert difference(dead, BEFORE, ()) == ""


def test_a_fault_says_by_its_category_what_its_fix_changes() -> None:
    nothing = Patch()
    assert may_change("RE010", nothing) == {Part.TRAINED}
    assert Part.JUDGED in may_change("RE006", nothing)
    assert may_change("MD101", nothing) == set()


def test_another_batch_size_takes_other_steps() -> None:
    batch = Patch((Set(HyperparameterId("train.py", "", "", Kind.BATCH_SIZE), 8),))
    assert may_change("MD101", batch) == {Part.STEPS, Part.ROWS, Part.JUDGED}


def test_rows_are_counted_by_the_steps_and_not_where_one_is_unknown() -> None:
    whole = trace([1.0] * 8)
    assert Kept.of(whole).rows == 80
    rows = whole.steps.rows.copy()
    rows[3, whole.steps.columns.index("batch_size")] = float("nan")
    partly = replace(whole, steps=Columns(whole.steps.columns, rows))
    assert Kept.of(partly).rows is None
