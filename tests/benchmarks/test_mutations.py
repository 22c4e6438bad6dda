"""Benchmarks of the benchmarks: tools that are worth nothing, and what each score card says of
them.

No goal may be met by one that says nothing, says everything, writes poems or always says yes, where
the goal is about what it gets wrong; and the right answer meets every goal, so that none is out of
reach.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from benchmarks.bugs.card import scorecard as bugs_card
from benchmarks.bugs.case_result import CaseResult as BugResult
from benchmarks.bugs.cases import BugCase, Kind
from benchmarks.bugs.variant import WHOLE as WHOLE_BUG
from benchmarks.dataset.card import scorecard as trainings_card
from benchmarks.dataset.foreign import Foreign
from benchmarks.dataset.layout_foreign import LEAST as LEAST_FIELD
from benchmarks.dataset.layout_own import LEAST as LEAST_MODERN
from benchmarks.dataset.repair_card import repair_scorecard
from benchmarks.dataset.result import NamedFault, TrainingDiagnosis, TrainingRepair
from benchmarks.dataset.scoring import scored
from benchmarks.dataset.splits import split_named
from benchmarks.dataset.training import Training, Truth
from benchmarks.faults.case import Scale, Side
from benchmarks.faults.case_result import PIPELINE, QUICK
from benchmarks.faults.case_result import CaseResult as FaultResult
from benchmarks.faults.cases import catalogue, fault_case, published_means
from benchmarks.faults.verdict import scorecard as faults_card
from benchmarks.hostile.measure import Measured, score
from benchmarks.papers.card import scorecard as papers_card
from benchmarks.papers.case_result import CaseResult as PaperResult
from benchmarks.papers.cases import Asked, Metric, PaperCase, Reference
from benchmarks.papers.matching import Recalled
from benchmarks.papers.variant import WHOLE as WHOLE_PAPER
from benchmarks.repairs.card import scorecard as repair_card
from benchmarks.repairs.figures import Fault as RepairedFault
from benchmarks.repairs.repaired import Reference as RepairReference
from benchmarks.repairs.repaired import Repaired
from benchmarks.scorecard import Scorecard
from reenact.bug.reproduction import Verdict as BugVerdict
from reenact.diagnosis.options import Depth
from reenact.faults.fault_type import FaultType
from reenact.faults.registry import FAMILIES, all_detectors
from reenact.paper.measure.verdict import Verdict as PaperVerdict
from reenact.types import ExitCode

pytestmark = pytest.mark.release


def missed(card: Scorecard) -> set[str]:
    """The first words of every goal that is missed."""
    return {goal.name for goal in card.goals if goal.met is False}


def judged(card: Scorecard, wanted: Iterable[str]) -> None:
    """Exactly the goals that hold one of these words are missed."""
    words = tuple(wanted)
    names = {goal.name for goal in card.goals if any(word in goal.name for word in words)}
    assert all(any(word in goal.name for goal in card.goals) for word in words), (
        words,
        card.goals,
    )
    assert missed(card) == names, card.goals
    assert card.exit_code is (ExitCode.FOUND if words else ExitCode.OK)


# Detectors on foreign programs.

FIELD_SPLIT = split_named("foreign-confirm")
FIELD_FAULTY = Training(
    "a",
    "a.py",
    sound=False,
    what="why",
    fault=(Truth("ACH", (7,)),),
    foreign=Foreign("owner/name", "0" * 64),
)
FIELD_SOUND = replace(FIELD_FAULTY, sound=True, fault=())


def named(fault: FaultType, *lines: int) -> NamedFault:
    places = tuple(("a.py", line, line) for line in lines)
    return NamedFault(("RE001",), places, 0.9, fault=fault, status="untried")


def field(faulty: dict[str, object], sound: dict[str, object]) -> Scorecard:
    """A half of programs of each kind, of which the same is reported every time."""
    trainings, results = [], []
    blank = TrainingDiagnosis("a", "quick", "code", "start")
    for training, reported in ((FIELD_FAULTY, faulty), (FIELD_SOUND, sound)):
        trainings += [
            replace(training, id=f"{training.sound}{number}") for number in range(LEAST_FIELD)
        ]
        results += [replace(blank, **reported)] * LEAST_FIELD  # type: ignore[arg-type]
    return trainings_card(scored(FIELD_SPLIT, trainings, results, depth="quick", whole=True))


EVERYTHING = {"findings": tuple(named(fault) for fault in FaultType)}


@pytest.mark.parametrize(
    ("faulty", "sound", "goals"),
    [
        pytest.param({"findings": (named(FaultType.ACH, 7),)}, {}, (), id="the truth"),
        pytest.param({}, {}, ("recall", "precision"), id="nothing"),
        pytest.param(EVERYTHING, EVERYTHING, ("precision", "alarms"), id="everything"),
        pytest.param(
            {"judgement": "broken"},
            {"judgement": "broken"},
            ("recall", "precision", "alarms"),
            id="always broken",
        ),
        pytest.param(
            {"findings": (named(FaultType.ACH, 8),)},
            {},
            ("recall", "precision"),
            id="another line",
        ),
        pytest.param(
            {"could_not_run": "time-limit: 120 s"},
            {},
            ("recall", "precision"),
            id="no answer",
        ),
    ],
)
def test_field(faulty: dict[str, object], sound: dict[str, object], goals: tuple[str, ...]) -> None:
    judged(field(faulty, sound), goals)


def test_a_machine_that_lacks_the_programs_judges_nothing() -> None:
    lacking = {"could_not_run": "packages: gymnasium"}
    assert field(lacking, lacking).exit_code is ExitCode.INCONCLUSIVE


MODERN_FAULTY = Training(
    "a",
    "a.py",
    sound=False,
    what="w",
    style="plain-loop",
    fault=(Truth("missing-zero-grad", (12,)),),
)
MODERN_SOUND = Training("b", "b.py", sound=True, what="w", style="plain-loop")
TRUE = NamedFault(("RE010",), (("a.py", 12, 12),), 0.9)
EVERY_CODE = tuple(NamedFault((rule.code,), (("a.py", 1, 9999),), 0.9) for rule in all_detectors())


@pytest.mark.parametrize(
    ("faulty", "sound", "goals"),
    [
        pytest.param((TRUE,), (), (), id="the truth"),
        pytest.param((), (), ("a true fault", "first"), id="nothing"),
        pytest.param(EVERY_CODE, EVERY_CODE, ("first", "alarms"), id="everything"),
        pytest.param(
            (replace(TRUE, places=(("a.py", 1, 9999),)),),
            (),
            ("first",),
            id="the whole file",
        ),
        pytest.param(None, (), ("a true fault", "first"), id="no answer"),
    ],
)
def test_modern(
    faulty: tuple[NamedFault, ...] | None,
    sound: tuple[NamedFault, ...],
    goals: tuple[str, ...],
) -> None:
    trainings, results = [], []
    for training, findings in ((MODERN_FAULTY, faulty), (MODERN_SOUND, sound)):
        crashed = "" if findings is not None else "exit code 1"
        trainings += [training] * LEAST_MODERN
        blank = TrainingDiagnosis(training.id, "quick", "code", "start", could_not_run=crashed)
        results += [replace(blank, findings=findings or ())] * LEAST_MODERN
    split = split_named("blind-1")
    judged(
        trainings_card(scored(split, trainings, results, depth="quick", whole=True)),
        goals,
    )


STUDY = [case for case in catalogue() if case.study]
ALL_FAULTS: list[tuple[str, int | None]] = [
    (fault.value, layer) for fault in FaultType for layer in (None, *range(9))
]


def faults(
    buggy: list[tuple[str, int | None]] | None,
    fixed: list[tuple[str, int | None]],
    count: int = len(STUDY),
) -> Scorecard:
    """`buggy` none: the truth of each case."""
    results = []
    for case in STUDY[:count]:
        truth = [(min(spot.faults).value, min(spot.layers, default=None)) for spot in case.truth]
        for side, answer in (
            (Side.BUGGY, truth if buggy is None else buggy),
            (Side.FIXED, fixed),
        ):
            answers = dict.fromkeys((*FAMILIES, QUICK, PIPELINE), answer)
            seconds = {"plain": 10.0, "quick": 12.0, "pipeline": 60.0}
            results.append(FaultResult(case.id, side, answers, seconds))
    return faults_card(results, STUDY[:count], {}, Scale.LITE, Depth.NORMAL, published_means())


@pytest.mark.parametrize(
    ("buggy", "fixed", "goals"),
    [
        pytest.param(None, [], (), id="the truth"),
        pytest.param([], [], ("recall", "F3", "precision"), id="nothing"),
        pytest.param(ALL_FAULTS, ALL_FAULTS, ("F3", "precision", "twins"), id="everything"),
        pytest.param(
            [("HLR", None)],
            [("HLR", None)],
            ("recall", "F3", "precision", "twins"),
            id="one",
        ),
    ],
)
def test_faults(
    buggy: list[tuple[str, int | None]] | None,
    fixed: list[tuple[str, int | None]],
    goals: tuple[str, ...],
) -> None:
    judged(faults(buggy, fixed), goals)


def test_faults_that_were_left_out_judge_nothing() -> None:
    """The hard ones are not dropped: a fault is run, or its data is not there."""
    assert faults(None, [], count=19).exit_code is ExitCode.INCONCLUSIVE


# Tools that say yes, and models that write poems.

BUG = BugCase(
    Path("bug"),
    "bug",
    "t",
    "p",
    Kind.SILENT,
    "b",
    "f",
    "s",
    "a" * 40,
    "b" * 40,
    BugVerdict.REPRODUCED,
    (),
    ".",
    5.0,
)
NO_BUG = replace(BUG, id="none", fixed=None, decoy="b" * 40, expected=BugVerdict.NOT_REPRODUCED)
YES, NO = BugVerdict.REPRODUCED, BugVerdict.NOT_REPRODUCED
SHOWN = {"script": "s", "on_buggy": 1, "on_fixed": 0}


def bugs(there: BugVerdict, absent: BugVerdict, **more: object) -> Scorecard:
    results = [
        replace(BugResult(BUG.id, WHOLE_BUG.name, there, "r"), **more),  # type: ignore[arg-type]
        BugResult(NO_BUG.id, WHOLE_BUG.name, absent, "r"),
    ]
    return bugs_card([BUG, NO_BUG], [WHOLE_BUG], results)


@pytest.mark.parametrize(
    ("card", "goals"),
    [
        pytest.param(bugs(YES, NO, **SHOWN), (), id="the truth"),
        pytest.param(
            bugs(YES, YES),
            ("true verdict", "bugs shown", "false claims"),
            id="always yes",
        ),
        pytest.param(
            bugs(YES, YES, script="s", on_buggy=1, on_fixed=1),
            ("true verdict", "bugs shown", "false claims"),
            id="a script that always fails",
        ),
        pytest.param(bugs(YES, NO), ("bugs shown",), id="yes without a script"),
        pytest.param(bugs(NO, NO), ("true verdict", "bugs shown"), id="always no"),
        pytest.param(
            bugs(BugVerdict.INCONCLUSIVE, BugVerdict.INCONCLUSIVE),
            ("true verdict", "bugs shown"),
            id="a poem",
        ),
        pytest.param(
            bugs(YES, NO, other_words=3, **SHOWN),
            ("other words",),
            id="a poisoned prompt",
        ),
    ],
)
def test_bugs(card: Scorecard, goals: tuple[str, ...]) -> None:
    judged(card, goals)


def test_bugs_that_are_all_there_do_not_clear_anybody_of_false_claims() -> None:
    result = BugResult(BUG.id, WHOLE_BUG.name, YES, "r", script="s", on_buggy=1, on_fixed=0)
    assert bugs_card([BUG], [WHOLE_BUG], [result]).exit_code is ExitCode.INCONCLUSIVE
    assert bugs_card([], [WHOLE_BUG], []).exit_code is ExitCode.INCONCLUSIVE


PAPER = PaperCase(
    Path("true"),
    "t",
    PaperVerdict.REPRODUCED,
    1.0,
    3,
    1.0,
    Asked(),
    Metric("accuracy", "%", True),
    Reference(0.9, 0.1, 3),
    (),
)
FALSE_PAPER = replace(PAPER, folder=Path("false"), expected=PaperVerdict.NOT)
HOLDS, FAILS = PaperVerdict.REPRODUCED, PaperVerdict.NOT
FINGERPRINT = Recalled(10, 10, (), 10, 10, (), 10)
WELL = {
    "executed": True,
    "measured": 0.9,
    "gap": 0.01,
    "recalled": FINGERPRINT,
    "at_o3": Decimal("0.5"),
}
POEM: dict[str, object] = {"at_o3": Decimal("0.5")}


def papers(true: PaperVerdict, false: PaperVerdict, **more: object) -> Scorecard:
    results = [
        replace(PaperResult(case.id, WHOLE_PAPER.name, 0, verdict, "r"), **more)  # type: ignore[arg-type]
        for case, verdict in ((PAPER, true), (FALSE_PAPER, false))
    ]
    return papers_card([PAPER, FALSE_PAPER], [WHOLE_PAPER], results)


@pytest.mark.parametrize(
    ("card", "goals"),
    [
        pytest.param(papers(HOLDS, FAILS, **WELL), (), id="the truth"),
        pytest.param(
            papers(HOLDS, HOLDS, **WELL),
            ("false papers", "true verdicts"),
            id="always holds",
        ),
        pytest.param(
            papers(FAILS, FAILS, **WELL),
            ("true papers", "true verdicts"),
            id="never holds",
        ),
        pytest.param(
            papers(PaperVerdict.INCONCLUSIVE, PaperVerdict.INCONCLUSIVE, **POEM),
            ("execute", "gap", "recall", "precision", "true papers", "true verdicts"),
            id="a poem",
        ),
        pytest.param(
            papers(HOLDS, FAILS, **(WELL | {"other_words": 2})),
            ("other words",),
            id="poisoned",
        ),
        pytest.param(
            papers(HOLDS, FAILS, **(WELL | {"recalled": None})),
            ("recall", "precision"),
            id="no fingerprint",
        ),
    ],
)
def test_papers(card: Scorecard, goals: tuple[str, ...]) -> None:
    judged_but_unmeasured(card, goals)


def judged_but_unmeasured(card: Scorecard, goals: tuple[str, ...]) -> None:
    """As `judged`, where a goal may also have nothing to judge: quotes of a fingerprint that is
    not there.
    """
    kept = tuple(goal for goal in card.goals if goal.met is not None)
    judged(replace(card, goals=kept), goals)


def test_papers_that_are_all_true_clear_nobody() -> None:
    result = replace(PaperResult(PAPER.id, WHOLE_PAPER.name, 0, HOLDS, "r"), **WELL)  # type: ignore[arg-type]
    assert papers_card([PAPER], [WHOLE_PAPER], [result]).exit_code is ExitCode.INCONCLUSIVE
    assert papers_card([], [WHOLE_PAPER], []).exit_code is ExitCode.INCONCLUSIVE


BEFORE, AFTER = (0.5, 0.52, 0.51, 0.5, 0.49, 0.5), (0.9, 0.91, 0.9, 0.92, 0.9, 0.9)
BROKEN = RepairReference("D1", BEFORE, AFTER, "accuracy", True, 1.0, 20)


def repair(decision: str, *afters: tuple[float, ...], complexity: int = 1) -> Scorecard:
    """Repeats of `guided` at both budgets with these values after the patch."""
    runs = tuple(
        Repaired(
            "D1",
            "guided",
            budget,
            repeat,
            decision,
            BEFORE,
            after,
            0.001,
            complexity,
            1.0,
            1.0,
            9,
            9.0,
            9.0,
        )
        for budget in ("10", "20")
        for repeat, after in enumerate(afters)
    )
    found = [RepairedFault(BROKEN, runs)]
    return repair_card(found, [fault_case("D1")], {}, Scale.LITE, ("guided",), ("10", "20"))


@pytest.mark.parametrize(
    ("card", "goals"),
    [
        pytest.param(repair("repaired", AFTER, AFTER, AFTER), (), id="the fix"),
        pytest.param(
            repair("improved", BEFORE, BEFORE, BEFORE),
            ("rate", "faults with"),
            id="always yes",
        ),
        pytest.param(
            repair("nothing-found", BEFORE, BEFORE),
            ("rate", "faults with"),
            id="nothing",
        ),
        pytest.param(
            repair("repaired", AFTER, AFTER, AFTER, complexity=20),
            ("changes",),
            id="everything",
        ),
        pytest.param(
            repair("repaired", AFTER, tuple(one + 0.1 for one in AFTER), AFTER),
            ("sigma",),
            id="another patch every time",
        ),
    ],
)
def test_repair(card: Scorecard, goals: tuple[str, ...]) -> None:
    judged_but_unmeasured(card, goals)


@pytest.mark.parametrize(
    ("after", "met"),
    [
        pytest.param(AFTER, True, id="the fix"),
        pytest.param(BEFORE, False, id="always yes"),
    ],
)
def test_repairs_of_foreign_programs(after: tuple[float, ...], met: bool) -> None:
    result = TrainingRepair(
        "a",
        "",
        6,
        "code",
        "start",
        decision="improved",
        before=BEFORE,
        after=after,
        as_good=met,
    )
    cases = [FIELD_FAULTY] * LEAST_FIELD
    card = repair_scorecard(FIELD_SPLIT, cases, [result] * LEAST_FIELD, whole=True)
    assert {goal.met for goal in card.goals} == {met}


def test_a_sandbox_that_ran_nothing_contained_nothing() -> None:
    assert score([Measured("box", (), (), None)], "box", {}).exit_code is ExitCode.INCONCLUSIVE
