"""Gap, grades, invented metrics, matching, verdicts: arithmetic and reading, no box."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from reenact.codegen.project import Project
from reenact.journal import Journal
from reenact.paper.criterion import Category, Criterion, Judged, Level, Value
from reenact.paper.measure.control import ControlStatus, NumberControl, Source
from reenact.paper.measure.gap import (
    Comparison,
    Grade,
    Match,
    compare,
    gap_of,
    grade_of,
    mean_gap,
    relative_difference,
    settings_that_differ,
    unmeasured,
)
from reenact.paper.measure.measure import invented, matched
from reenact.paper.measure.runs import FullRun
from reenact.paper.measure.verdict import Verdict, verdict_of
from reenact.types import ExitCode

numbers = st.floats(-1e6, 1e6, allow_nan=False)


def runs(*values: float, ok: bool = True) -> tuple[FullRun, ...]:
    return tuple(
        FullRun(seed, ok, {"accuracy": value}, "", 1.0, 1.0, 10.0, "")
        for seed, value in enumerate(values)
    )


def test_the_published_formula() -> None:
    assert gap_of(0.1, 0.3) == pytest.approx(2 / 3)
    assert gap_of(0.3, 0.1) == pytest.approx(2 / 3)
    assert gap_of(5.0, None) == 1.0
    assert gap_of(0.0, 0.0) == 0.0
    assert gap_of(-2.0, 2.0) == 1.0


@given(numbers, numbers)
def test_a_gap_is_a_share_and_has_no_direction(one: float, other: float) -> None:
    assert 0 <= gap_of(one, other) <= 1
    assert gap_of(one, other) == gap_of(other, one)
    assert gap_of(one, one) == 0


def test_grades() -> None:
    got = [grade_of(100.0, value) for value in (101.9, 98.0, 81.0, 120.0, 139.9, 60.0, None)]
    assert got == [Grade.A, Grade.B, Grade.B, Grade.C, Grade.C, Grade.D, Grade.NONE]


def test_a_claim_in_per_cent_meets_a_share(claim: Any) -> None:
    (one,) = compare(
        [claim()],
        runs(0.90, 0.92),
        [Match(claim="C1", metric="accuracy")],
        differs=["half the data"],
    )
    assert (one.measured, one.n, one.grade, one.holds) == (91.0, 2, Grade.A, True)
    assert one.spread == pytest.approx(1.4142, abs=1e-3)
    assert one.differs == ("half the data",)


def test_what_is_missing_or_refused_counts_one(claim: Any) -> None:
    claims = [claim("C1"), claim("C2"), claim("C3")]
    pairs = [Match(claim="C1", metric="accuracy"), Match(claim="C2", metric="recall")]
    compared = compare(claims, runs(0.91), pairs)
    assert [one.gap for one in compared] == [0.0, 1.0, 1.0]
    assert mean_gap(compared) == pytest.approx(2 / 3)
    assert mean_gap(compared, executed=True) == 0.0
    assert [(one.n, one.measured, one.spread) for one in compared[1:]] == [(0, None, None)] * 2
    assert "No metric of the code" in compared[2].note
    refused = unmeasured(compared[0], "No measurement.")
    assert (refused.measured, refused.gap, refused.by_seed) == (None, 1.0, {})
    assert (refused.n, refused.grade) == (0, Grade.NONE)
    assert refused.note == "No measurement."


def test_the_papers_own_spread_and_equal_seeds(claim: Any) -> None:
    (one,) = compare(
        [claim(value=80.0, spread=12.0)],
        runs(0.91, 0.91),
        [Match(claim="C1", metric="accuracy")],
    )
    assert one.holds
    assert one.better
    assert "every seed" in one.note


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            'metrics = {"accuracy": 0.912}',
            "literal 0.912, which is what the paper claims",
        ),
        ('metrics["accuracy"] = max(score(), 91.2)', "literal 91.2"),
        (
            "best = 0.912\nresult = best\nmetrics = dict(accuracy=result)",
            "literal 0.912",
        ),
        ('metrics = {"accuracy": score() if ready else 0.912}', "literal 0.912"),
        (
            'metrics = {"accuracy": round(0.5 + 0.3, 4)}',
            "is a literal, not a measurement",
        ),
    ],
)
def test_an_invented_metric_is_found(claim: Any, body: str, why: str) -> None:
    found = invented(Project({"train.py": body}), ["accuracy"], [claim(value=91.2)])
    assert any(why in str(one) for one in found), found


@pytest.mark.parametrize(
    "body",
    [
        'metrics = {"accuracy": 0.0}\nmetrics["accuracy"] = correct / total',
        (
            "best = 0.0\nfor epoch in range(9):\n    best = max(best, score())\nmetrics = "
            '{"accuracy": best}'
        ),
        'metrics = {"accuracy": 100 * evaluate(model, 0.912)}',
        'metrics = {"loss": 0.912, "accuracy": float(np.mean(hits))}',
        'def report(accuracy):\n    return {"accuracy": accuracy}',
    ],
)
def test_a_measured_metric_is_not_refused(claim: Any, body: str) -> None:
    claims = [claim(value=91.2), claim("C2", value=100.0)]
    assert invented(Project({"train.py": body}), ["accuracy"], claims) == ()


def test_matching_sees_no_numbers_and_is_checked(
    claim: Any, context: Any, journal: Journal
) -> None:
    claims = [
        claim(value=91.2, quote="91.2"),
        claim("C2", value=0.5, unit="", metric="recall"),
    ]
    answers = [
        {"matches": [{"claim": "C9", "metric": "accuracy"}]},
        {"matches": [{"claim": "C1", "metric": "precision"}]},
        {"matches": [{"claim": "C1", "metric": "accuracy", "differs": ["Other split."]}]},
    ]
    services = context({"paper/match": answers})
    with journal.run(pipeline="paper", request={}, argv=(), what="x") as run:
        pairs, why = matched(
            claims, runs(0.8765), Project({"train.py": "x = 1\n"}), services.model, run
        )
    assert pairs == (Match(claim="C1", metric="accuracy", differs=["Other split."]),)
    assert why == ""
    asked = [call.as_text() for call in services.model.calls]
    assert "There is no claim 'C9'" in asked[1]
    assert "There is no metric 'precision'" in asked[2]
    assert not re.search(r"91\.2|0\.8765|0\.5\b", asked[0])


@pytest.mark.parametrize(
    ("measured", "how", "verdict", "code"),
    [
        ((0.91, 0.5), {}, Verdict.REPRODUCED, ExitCode.OK),
        ((0.91, None), {}, Verdict.PARTLY, ExitCode.FOUND),
        ((0.91, 0.9), {}, Verdict.PARTLY, ExitCode.FOUND),
        ((0.3, 0.1), {}, Verdict.NOT, ExitCode.FOUND),
        ((None, None), {}, Verdict.INCONCLUSIVE, ExitCode.INCONCLUSIVE),
        ((0.91, 0.5), {"scale": 0.5}, Verdict.PARTLY, ExitCode.FOUND),
        (
            (0.91, 0.5),
            {"stand_in": "noise"},
            Verdict.INCONCLUSIVE,
            ExitCode.INCONCLUSIVE,
        ),
        (
            (0.3, 0.1),
            {"stand_in": "noise"},
            Verdict.INCONCLUSIVE,
            ExitCode.INCONCLUSIVE,
        ),
        ((0.91, 0.5), {"runs": False}, Verdict.INCONCLUSIVE, ExitCode.INCONCLUSIVE),
    ],
)
def test_verdicts(claim: Any, measured: Any, how: Any, verdict: Verdict, code: ExitCode) -> None:
    claims = [claim("C1", 0.91, ""), claim("C2", 0.5, "")]
    compared = []
    for one, value in zip(claims, measured, strict=True):
        pairs = [Match(claim=one.id, metric="accuracy")] if value is not None else []
        compared += compare([one], runs(value or 0.0), pairs)
    judgement = verdict_of(compared, **{"runs": True, **how})
    assert (judgement.verdict, judgement.verdict.exit_code) == (verdict, code)
    assert judgement.reason


@pytest.mark.parametrize(
    ("claimed", "spread", "measured", "holds"),
    [
        (97.6, None, 94.0, False),
        (97.6, None, 96.0, True),
        (97.6, 4.0, 94.0, True),
        (80.0, None, 77.0, True),
        (104.0, None, 100.0, True),
        (100.0, None, 96.0, False),
        (99.8, None, 99.1, True),
    ],
)
def test_a_share_near_100_may_be_less_off(
    claim: Any, claimed: float, spread: float | None, measured: float, holds: bool
) -> None:
    """94 in place of 97.6 is 4 % less, and two and a half times as many errors."""
    stated = [claim(value=claimed, spread=spread)]
    (one,) = compare(stated, runs(measured, measured), [Match(claim="C1", metric="accuracy")])
    assert one.holds is holds


@pytest.mark.parametrize(
    ("claimed", "spread", "measured", "holds"),
    [
        (0.5, None, 0.5 * 1.0499, True),
        (0.5, None, 0.5 * 1.0501, False),
        (0.5, None, 0.5 * 0.9501, True),
        (0.5, None, 0.5 * 0.9499, False),
        (0.0, None, 0.0, True),
        (0.0, None, 1e-9, False),
        (0.5, 0.0999, 0.5 + 0.0998, True),
        (0.5, 0.0999, 0.5 + 0.1001, False),
        (0.5, 0.1001, 0.5 + 0.0998, False),
        (0.5, 0.0625, 0.5625, True),
        (5.0, 1.0, 5.9, True),
        (10.0, None, 10.9, False),
        (20.0, None, 21.0, False),
        (-20.0, None, -20.9, True),
        (-20.0, None, -21.1, False),
        (-5.0, 1.0, -5.9, True),
    ],
)
def test_both_sides_of_what_holds(
    claim: Any, claimed: float, spread: float | None, measured: float, holds: bool
) -> None:
    """Within 5 %, or within a plus-minus of at most a fifth."""
    stated = [claim(value=claimed, unit="", spread=spread)]
    (one,) = compare(stated, runs(measured), [Match(claim="C1", metric="accuracy")])
    assert one.holds is holds


@pytest.mark.parametrize(
    ("claimed", "measured", "holds"),
    [
        (98.0, 96.1, True),
        (98.0, 96.0, True),
        (98.0, 95.9, False),
        (99.5, 98.6, True),
        (99.5, 98.4, False),
        (100.0, 99.1, True),
        (100.0, 98.9, False),
        (100.1, 96.0, True),
    ],
)
def test_both_sides_of_a_share_near_100(
    claim: Any, claimed: float, measured: float, holds: bool
) -> None:
    """Not further from the claim than that is from 100, or than a point."""
    (one,) = compare([claim(value=claimed)], runs(measured), [Match(claim="C1", metric="accuracy")])
    assert one.holds is holds


@pytest.mark.parametrize(
    ("got", "grade"),
    [
        (101.99, Grade.A),
        (102.01, Grade.B),
        (119.99, Grade.B),
        (120.01, Grade.C),
        (139.99, Grade.C),
        (140.01, Grade.D),
    ],
)
def test_both_sides_of_every_grade(got: float, grade: Grade) -> None:
    assert grade_of(100.0, got) is grade


@pytest.mark.parametrize(
    ("reference", "got", "difference", "grade"),
    [
        (0.0, 0.0, 0.0, Grade.A),
        (0.0, 1.0, float("inf"), Grade.D),
        (-2.0, -1.5, 0.25, Grade.C),
        (0.5, 1.0, 1.0, Grade.D),
    ],
)
def test_against_nought_only_nought_is_near(
    reference: float, got: float, difference: float, grade: Grade
) -> None:
    assert relative_difference(reference, got) == difference
    assert grade_of(reference, got) is grade


@pytest.mark.parametrize(
    ("values", "unit", "claimed", "expected"),
    [
        ((0.0, 1.0), "%", 91.0, 50.0),
        ((0.5, 1.01), "%", 91.0, 0.755),
        ((0.5, 0.9), "%", 1.0, 0.7),
        ((0.5, 0.9), "%", 1.1, 70.0),
        ((0.5, 0.9), "", 91.0, 0.7),
    ],
)
def test_when_a_measure_is_a_share_and_the_claim_per_cent(
    claim: Any, values: tuple[float, ...], unit: str, claimed: float, expected: float
) -> None:
    stated = [claim(value=claimed, unit=unit)]
    (one,) = compare(stated, runs(*values), [Match(claim="C1", metric="accuracy")])
    assert one.measured == pytest.approx(expected)


@pytest.mark.parametrize(
    ("bound", "measured", "holds", "gap"),
    [
        (">", 0.91, True, 0.0),
        (">", 0.89, False, 0.0111),
        ("<", 0.89, True, 0.0),
        ("<", 0.91, False, 0.011),
    ],
)
def test_both_sides_of_a_bound(
    claim: Any, bound: str, measured: float, holds: bool, gap: float
) -> None:
    stated = claim(value=0.9, unit="", bound=bound, higher_is_better=bound == ">")
    (one,) = compare([stated], runs(measured), [Match(claim="C1", metric="accuracy")])
    assert one.holds is holds
    assert one.gap == pytest.approx(gap, abs=1e-3)


@pytest.mark.parametrize(
    ("bound", "higher", "holds"), [(">", True, False), ("<", False, False), ("", True, True)]
)
def test_a_bound_itself_is_not_beyond_it(claim: Any, bound: str, higher: bool, holds: bool) -> None:
    stated = claim(value=0.5, unit="", bound=bound, higher_is_better=higher)
    (one,) = compare([stated], runs(0.5), [Match(claim="C1", metric="accuracy")])
    assert (one.holds, one.better, one.gap) == (holds, False, 0.0)


@pytest.mark.parametrize("higher", [True, False])
def test_what_was_not_measured_is_neither_near_nor_better_nor_doubtful(
    claim: Any, higher: bool
) -> None:
    doubtful = NumberControl(ControlStatus.IMPOSSIBLE, Source.AS_REPORTED, "no step")
    (one,) = compare([claim(value=0.0, unit="", higher_is_better=higher)], runs(0.5), [])
    assert (one.is_near, one.better, one.holds) == (False, False, False)
    assert replace(one, control=doubtful).doubt == ""
    assert replace(one, measured=0.5, control=doubtful).doubt == "no control was possible: no step"
    (bound,) = compare([claim(value=-9.0, unit="", bound=">")], runs(0.5), [])
    assert not bound.holds


def test_an_answer_of_the_research_role_is_limited_in_length() -> None:
    longest = Match(claim="C" * 20, metric="m" * 200, differs=["Other."] * 10)
    for longer in ({"claim": "C" * 21}, {"metric": "m" * 201}, {"differs": ["Other."] * 11}):
        with pytest.raises(ValidationError):
            Match.model_validate({**longest.model_dump(), **longer})


@pytest.mark.parametrize(
    ("values", "spread", "same"),
    [((0.91,), None, False), ((0.91, 0.91), 0.0, True), ((0.91, 0.93, 0.91), 0.01155, False)],
)
def test_seeds_that_are_equal_to_the_last_digit_are_more_than_one(
    claim: Any, values: tuple[float, ...], spread: float | None, same: bool
) -> None:
    (one,) = compare([claim(unit="")], runs(*values), [Match(claim="C1", metric="accuracy")])
    assert one.n == len(values)
    assert one.spread == (None if spread is None else pytest.approx(spread, abs=1e-5))
    assert ("for every seed" in one.note) is same


def test_what_differs_is_stated_once(claim: Any) -> None:
    pair = Match(claim="C1", metric="accuracy", differs=["Other split.", "Half the data."])
    (one,) = compare([claim()], runs(0.9), [pair], differs=["Half the data."])
    assert one.differs == ("Half the data.", "Other split.")


CRITERIA = tuple(
    Criterion(name, f"{name} is so.", "training", "q", ("1",), Level.CONFIGURATION, category, 1)
    for name, category in (("F1", Category.SETUP), ("F2", Category.SETUP), ("F3", Category.ACTION))
)


@pytest.mark.parametrize(
    ("scale", "stand_in", "words"),
    [
        (1.0, "", ()),
        (0.5, "", ("Only 50% of the paper's training was done.",)),
        (1.0, "noise", ("The data are a synthetic stand-in: noise",)),
    ],
)
def test_settings_that_are_not_those_of_the_paper(
    scale: float, stand_in: str, words: tuple[str, ...]
) -> None:
    judged = [
        Judged("F1", Value.FAIL, "check", "seen"),
        Judged("F2", Value.PASS, "check", "seen"),
        Judged("F3", Value.FAIL, "check", "seen"),
    ]
    assert settings_that_differ(CRITERIA, judged, scale, stand_in) == (
        *words,
        "Not as the paper says: F1 is so. (F1)",
    )
    assert settings_that_differ(CRITERIA, judged[1:], scale, stand_in) == words


def controlled_claim(claim: Any, measured: float, control: NumberControl) -> Comparison:
    (one,) = compare(
        [claim(value=0.9, unit="")],
        runs(measured),
        [Match(claim="C1", metric="accuracy")],
    )
    return replace(one, control=control)


@pytest.mark.parametrize(
    ("control", "verdict"),
    [
        (
            NumberControl(ControlStatus.PASSED, Source.RECOMPUTED, should_recompute=True),
            Verdict.REPRODUCED,
        ),
        (NumberControl(ControlStatus.PASSED, Source.AS_REPORTED), Verdict.REPRODUCED),
        (NumberControl(ControlStatus.NOT_NEEDED, Source.AS_REPORTED), Verdict.REPRODUCED),
        (
            NumberControl(ControlStatus.PASSED, Source.AS_REPORTED, should_recompute=True),
            Verdict.PARTLY,
        ),
        (
            NumberControl(ControlStatus.IMPOSSIBLE, Source.RECOMPUTED, "no step"),
            Verdict.INCONCLUSIVE,
        ),
        (
            NumberControl(
                ControlStatus.PASSED,
                Source.RECOMPUTED,
                constant=0.88,
                constant_is_as_good=True,
            ),
            Verdict.INCONCLUSIVE,
        ),
    ],
)
def test_a_number_that_agrees_is_weighed_by_its_control(
    claim: Any, control: NumberControl, verdict: Verdict
) -> None:
    assert verdict_of([controlled_claim(claim, 0.9, control)], runs=True).verdict is verdict


def test_a_number_that_misses_needs_no_control(claim: Any) -> None:
    missed = controlled_claim(
        claim, 0.5, NumberControl(ControlStatus.IMPOSSIBLE, Source.AS_REPORTED, "no step")
    )
    assert verdict_of([missed], runs=True).verdict is Verdict.NOT
