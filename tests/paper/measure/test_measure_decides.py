"""Measurement on both sides of what decides it: runs whose numbers follow a formula, no process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from pydantic import ValidationError

from reenact.codegen.project import METRICS, Project
from reenact.journal import Journal
from reenact.paper.context import PaperContext
from reenact.paper.develop.development import Development
from reenact.paper.measure.control import ControlStatus, Source
from reenact.paper.measure.control_runs import (
    NO_UPDATES,
    OTHER_SEEDS,
    PERMUTED,
    PLAIN,
    other_seed,
)
from reenact.paper.measure.measure import (
    UNMATCHED,
    WRITTEN,
    Matches,
    Measured,
    invented,
    matched,
    measure,
)
from reenact.paper.measure.verdict import OrderingStatus, Verdict
from reenact.paper.options import PaperAblations
from reenact.sandbox.box import BoxResult, Command, Ending, Limits
from tests.paper.measure.test_gap import runs as full_runs

BOTH = {
    "paper/match": {
        "matches": [{"claim": "C1", "metric": "ours"}, {"claim": "C2", "metric": "plain"}]
    }
}
ONE = {"paper/match": {"matches": [{"claim": "C1", "metric": "accuracy"}]}}
QUIET: Mapping[str, Any] = {
    "torch": True,
    "optimizers": ["SGD"],
    "steps": 9,
    "by_hand": 0,
    "updates": 0,
    "moved": True,
    "permuted": 9,
    "not_permuted": "",
    "predicted": 40,
    "left_out": 0,
    "passes": [],
}


@dataclass(frozen=True)
class Asked:
    """One run as it was asked for."""

    seed: int
    mode: str
    """Empty for a run without our driver."""
    scale: float
    is_dry: bool
    cpu_s: float | None


Formula = Callable[[Asked], Mapping[str, float] | Ending]


@dataclass
class Computed:
    """A sandbox in which what a run leaves is a function of how it was started."""

    formula: Formula
    seen: Mapping[str, Any] = field(default_factory=dict)
    """What our driver saw, where that is not the usual."""
    name: str = "computed"
    missing: str = ""
    does_not_stop: tuple[str, ...] = ()
    asked: list[Asked] = field(default_factory=list)

    def run(self, command: Command, limits: Limits, **_: Any) -> BoxResult:
        words = command.argv
        task = json.loads(command.stdin) if command.stdin else {}
        one = Asked(
            seed=int(words[words.index("--seed") + 1]),
            mode=task.get("mode", ""),
            scale=float(words[words.index("--scale") + 1]) if "--scale" in words else 1.0,
            is_dry="--dry-run" in words,
            cpu_s=limits.cpu_s,
        )
        self.asked.append(one)
        left = self.formula(one)
        if isinstance(left, Ending):
            return BoxResult(left, self.name, exit_code=1)
        observed = {**QUIET, **self.seen}
        results = {METRICS: left, f"result-{task.get('word')}.json": observed}
        wanted = {
            name: json.dumps(results[name]).encode() for name in command.collect if name in results
        }
        return BoxResult(Ending.OK, self.name, exit_code=0, results=wanted)

    @property
    def seeds(self) -> list[int]:
        """Of the runs that nothing watched."""
        return [one.seed for one in self.asked if not one.mode]

    @property
    def modes(self) -> set[str]:
        return {one.mode for one in self.asked if one.mode}


def outcome(
    box: Computed,
    claims: Sequence[Any],
    services: PaperContext,
    journal: Journal,
    *,
    text: str = "print(1)\n",
    stand_in: str = "",
    runs: bool = True,
) -> Measured:
    made = Development(Project({"train.py": text}), (), 0, runs, (), (), stand_in)
    boxed = replace(services, runner=replace(services.runner, sandbox=box))
    with journal.run(pipeline="paper", request={}, argv=(), what="x") as run:
        return measure(claims, (), made, boxed, run)


def by_gain(*gains: float) -> Formula:
    """Two methods whose difference by seed is given; none is left of it without training."""

    def formula(one: Asked) -> Mapping[str, float]:
        gain = gains[one.seed % len(gains)] if one.mode in ("", PLAIN, *OTHER_SEEDS) else 0.0
        return {"ours": 8.0 + gain, "plain": 8.0}

    return formula


@pytest.fixture
def two(claim: Any) -> list[Any]:
    """Two methods, a difference of 2, and numbers far from those that are measured."""
    ours = claim(value=52.0, unit="", metric="number of games")
    return [ours, claim("C2", 50.0, "", metric="number of games", method="Plain")]


@pytest.mark.parametrize(
    ("seeds", "gains", "run"),
    [
        (2, (0.3, 2.3), 6),
        (2, (2.0, 2.0), 2),
        (2, (-1.0, -1.0), 2),
        (1, (2.0,), 1),
        (3, (0.3, 1.3, 2.3), 9),
    ],
)
def test_more_seeds_are_run_where_several_do_not_decide(
    two: list[Any], context: Any, journal: Journal, seeds: int, gains: tuple[float, ...], run: int
) -> None:
    box = Computed(by_gain(*gains))
    found = outcome(box, two, context(BOTH, seeds=seeds, repair=False), journal)
    assert sorted(box.seeds) == list(range(run))
    assert [one.seed for one in found.runs] == list(range(run))
    more = run - seeds
    assert any(f"{more} more were run" in note for note in found.notes) is bool(more)


def test_no_seeds_are_added_where_one_failed(
    two: list[Any], context: Any, journal: Journal
) -> None:
    gains = by_gain(0.3, 2.3)
    box = Computed(lambda one: Ending.EXIT if one.seed == 2 else gains(one))
    found = outcome(box, two, context(BOTH, seeds=3, repair=False), journal)
    assert [(one.seed, one.ok) for one in found.runs] == [(0, True), (1, True), (2, False)]
    assert found.notes[0].startswith("Seed 2 at scale 1: It ended with exit code 1")


@pytest.mark.parametrize(
    ("mean", "status"), [(1.3, OrderingStatus.UNDECIDED), (1.5, OrderingStatus.HOLDS)]
)
def test_who_looks_twice_must_be_surer(
    two: list[Any], context: Any, journal: Journal, mean: float, status: OrderingStatus
) -> None:
    """Six gains of deviation 1.095: the limits are 1.15 by 95 % and 1.41 by 97.5 %."""
    box = Computed(by_gain(mean - 1, mean + 1))
    found = outcome(box, two, context(BOTH, seeds=2, repair=False), journal)
    assert [(one.n, one.status) for one in found.orderings] == [(6, status)]


def accuracies(
    value: float, other: float = 0.1, modes: Mapping[str, float] | None = None
) -> Formula:
    """One number, and another one without training."""
    known = {NO_UPDATES: other, PERMUTED: other, **(modes or {})}
    return lambda one: {"accuracy": known.get(one.mode, value)}


@pytest.mark.parametrize(
    ("value", "stand_in", "is_controlled"),
    [(0.91, "", True), (0.5, "", False), (0.91, "noise", False)],
)
def test_what_agrees_is_controlled_and_a_miss_needs_none(
    claim: Any, context: Any, journal: Journal, value: float, stand_in: str, is_controlled: bool
) -> None:
    box = Computed(accuracies(value), {"torch": False})
    services = context(ONE, seeds=1, repair=False)
    found = outcome(box, [claim()], services, journal, stand_in=stand_in)
    assert bool(box.modes) is is_controlled
    assert (found.comparisons[0].control is not None) is is_controlled
    expected = Verdict.REPRODUCED if is_controlled else Verdict.NOT
    assert found.judgement.verdict is (Verdict.INCONCLUSIVE if stand_in else expected)


def test_one_number_that_agrees_is_enough_to_be_controlled(
    claim: Any, context: Any, journal: Journal
) -> None:
    other = claim("C2", metric="recall")
    found = outcome(
        Computed(accuracies(0.91)),
        [claim(), other],
        context(ONE, seeds=1, repair=False),
        journal,
    )
    assert [one.control is not None for one in found.comparisons] == [True, False]


def test_code_that_does_not_run_is_not_run(claim: Any, context: Any, journal: Journal) -> None:
    box = Computed(accuracies(0.91))
    services = context({}, scale=0.5)
    claims = [claim(), claim("C2", 80.0, method="Plain")]
    found = outcome(box, claims, services, journal, runs=False)
    assert (box.asked, found.runs, found.scale) == ([], (), 0.5)
    assert [one.measured for one in found.comparisons] == [None, None]
    assert [one.status for one in found.orderings] == [OrderingStatus.UNMEASURED]
    assert "No version of the code runs" in found.judgement.reason


def test_without_a_usable_answer_no_claim_is_matched(
    claim: Any, context: Any, journal: Journal
) -> None:
    services = context({"paper/match": ["no", "no", "no"]}, seeds=1, repair=False)
    found = outcome(Computed(accuracies(0.91)), [claim()], services, journal)
    assert [one.note for one in found.comparisons] == [UNMATCHED]
    assert found.notes[0].startswith("No one could say which metric is which claim:")


def test_an_ordering_that_holds_is_controlled_though_no_number_agrees(
    two: list[Any], context: Any, journal: Journal
) -> None:
    trained = [one.model_copy(update={"metric": "score"}) for one in two]
    box = Computed(by_gain(2.0))
    found = outcome(box, trained, context(BOTH, seeds=2, repair=False), journal)
    assert not any(one.is_near for one in found.comparisons)
    assert PLAIN in box.modes


def test_a_refused_number_is_taken_out_of_its_ordering(
    two: list[Any], context: Any, journal: Journal
) -> None:
    """Both are as good without updates: the ordering that held is not measured any more."""
    trained = [one.model_copy(update={"metric": "score"}) for one in two]
    box = Computed(lambda one: {"ours": 10.0, "plain": 8.0})
    found = outcome(box, trained, context(BOTH, seeds=2, repair=False), journal)
    assert [one.status for one in found.orderings] == [OrderingStatus.UNMEASURED]
    assert found.judgement.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("how", "is_repaired"),
    [
        ({}, True),
        ({"repair": False}, False),
        ({"parts": PaperAblations.without("debug")}, False),
        ({"stand_in": "noise"}, False),
        ({"value": 0.5}, False),
    ],
)
def test_when_a_gap_is_looked_into(
    claim: Any, context: Any, journal: Journal, how: dict[str, Any], is_repaired: bool
) -> None:
    """91 % is better than the 50 % that are claimed, so that there is nothing to repair."""
    options = {name: value for name, value in how.items() if name in ("repair", "parts")}
    value, stand_in = how.get("value", 0.91), how.get("stand_in", "")
    services = context(ONE, seeds=1, **options)
    found = outcome(
        Computed(accuracies(value)), [claim(value=50.0)], services, journal, stand_in=stand_in
    )
    assert (found.gap_repair is not None) is is_repaired


LITERAL = "accuracy = 0.5\nmetrics = {'accuracy': max(accuracy, 0.973)}\n"
PREDICTED = [{"series": "1", "guessed": False, "of": {"accuracy": [0.97, 0.5]}}]


@pytest.mark.parametrize(
    ("text", "value", "seen", "measured"),
    [
        (LITERAL, 0.97, {"passes": PREDICTED}, True),
        (LITERAL, 0.97, {}, False),
        (LITERAL, 0.97, {"steps": 0}, True),
        (LITERAL, 0.5, {}, False),
        (LITERAL.replace("accuracy", "recall"), 0.97, {}, True),
    ],
    ids=["recomputed", "only reported", "no control possible", "a miss", "another metric"],
)
def test_what_the_code_seems_to_write_counts_where_control_runs_decide(
    claim: Any,
    context: Any,
    journal: Journal,
    text: str,
    value: float,
    seen: dict[str, Any],
    measured: bool,
) -> None:
    box = Computed(accuracies(value), seen)
    services = context(ONE, seeds=1, repair=False)
    (one,) = outcome(box, [claim(value=97.3)], services, journal, text=text).comparisons
    assert (one.measured is not None) is measured
    assert (one.note == WRITTEN) is not measured


def test_a_claim_without_a_metric_is_not_one_without_an_answer(
    claim: Any, context: Any, journal: Journal
) -> None:
    services = context({"paper/match": {"matches": []}}, seeds=1, repair=False)
    (one,) = outcome(Computed(accuracies(0.91)), [claim()], services, journal).comparisons
    assert one.note == "No metric of the code is this claim."
    assert one.note != UNMATCHED


@pytest.mark.parametrize(
    ("late_above", "scales"),
    [
        (0.01, [1.0, 0.25, 0.0625]),
        (0.1, [1.0, 0.25, 0.0625]),
        (0.5, [1.0, 0.25]),
        (2.0, [1.0]),
    ],
)
def test_a_training_is_shortened_until_it_ends(
    claim: Any, context: Any, journal: Journal, late_above: float, scales: list[float]
) -> None:
    box = Computed(lambda one: Ending.TIMEOUT if one.scale > late_above else {"accuracy": 0.5})
    found = outcome(box, [claim()], context(ONE, seeds=1, repair=False), journal)
    assert [one.scale for one in found.runs] == scales
    assert found.scale == scales[-1]


def test_a_training_that_ended_with_one_seed_is_not_shortened(
    claim: Any, context: Any, journal: Journal
) -> None:
    box = Computed(lambda one: Ending.TIMEOUT if one.seed == 1 else {"accuracy": 0.5})
    found = outcome(box, [claim()], context(ONE, seeds=2, repair=False), journal)
    assert [(one.seed, one.ok, one.late) for one in found.runs] == [
        (0, True, False),
        (1, False, True),
    ]
    assert found.scale == 1.0


def test_a_training_that_fails_is_not_shortened(claim: Any, context: Any, journal: Journal) -> None:
    box = Computed(lambda one: Ending.EXIT)
    found = outcome(box, [claim()], context(ONE, seeds=3, repair=False), journal)
    assert [(one.seed, one.scale) for one in found.runs] == [(0, 1.0), (1, 1.0)]
    assert found.judgement.verdict is Verdict.INCONCLUSIVE


def test_controls_are_run_like_the_full_run_that_counts(
    claim: Any, context: Any, journal: Journal
) -> None:
    """Seed 0 fails: the seed of the controls is 1, except for those with a seed of their own."""
    box = Computed(
        lambda one: Ending.EXIT if one.seed == 0 else accuracies(0.91)(one), {"torch": False}
    )
    services = context(ONE, seeds=2, repair=False, run_wall_s=50.0, scale=0.5)
    (one,) = outcome(box, [claim()], services, journal).comparisons
    assert one.control is not None
    assert (one.control.status, one.control.source) == (ControlStatus.PASSED, Source.AS_REPORTED)
    project = Project({"train.py": "print(1)\n"})
    usual = services.runner.wall_s
    assert [one for one in box.asked if one.mode] == [
        Asked(1, PLAIN, 0.5, False, 100.0),
        Asked(1, PLAIN, 0.5, True, 2 * usual),
        Asked(1, NO_UPDATES, 0.5, True, 2 * usual),
        Asked(1, PERMUTED, 0.5, True, 2 * usual),
        *(Asked(other_seed(project, mode), mode, 0.5, False, 100.0) for mode in OTHER_SEEDS),
    ]


@pytest.mark.parametrize(
    ("seen", "ending", "why"),
    [
        ({"steps": None}, None, "ended before it could be observed"),
        ({"steps": float("nan")}, None, "ended before it could be observed"),
        ({}, Ending.EXIT, "the control run failed: It ended with exit code 1"),
    ],
)
def test_a_control_run_that_leaves_nothing_of_ours_says_why(
    claim: Any, context: Any, journal: Journal, seen: dict[str, Any], ending: Any, why: str
) -> None:
    box = Computed(lambda one: ending if ending and one.mode else {"accuracy": 0.91}, seen)
    (one,) = outcome(box, [claim()], context(ONE, seeds=1, repair=False), journal).comparisons
    assert one.control is not None
    assert one.control.status is ControlStatus.IMPOSSIBLE
    assert why in one.control.why


def test_a_claim_is_matched_once(claim: Any, context: Any, journal: Journal) -> None:
    twice = {"matches": [{"claim": "C1", "metric": "accuracy"}] * 2}
    services = context({"paper/match": [twice, ONE["paper/match"]]})
    with journal.run(pipeline="paper", request={}, argv=(), what="x") as run:
        pairs, why = matched(
            [claim()], full_runs(0.5), Project({"train.py": ""}), services.model, run
        )
    assert (len(pairs), why) == (1, "")
    assert "The claim C1 is matched twice" in services.model.calls[1].as_text()


def test_whoever_matches_reads_which_claims_are_in_per_cent(
    claim: Any, context: Any, journal: Journal
) -> None:
    services = context(ONE)
    claims = [claim(), claim("C2", unit="", setting="")]
    with journal.run(pipeline="paper", request={}, argv=(), what="x") as run:
        matched(claims, full_runs(0.5), Project({"train.py": ""}), services.model, run)
    asked = services.model.calls[0].as_text()
    assert "C1: accuracy in per cent of Ours on Blobs; 40 epochs\n" in asked
    assert "C2: accuracy of Ours on Blobs\n" in asked


def test_a_matching_has_at_most_two_hundred_pairs() -> None:
    pairs = [{"claim": f"C{number}", "metric": "accuracy"} for number in range(201)]
    assert len(Matches.model_validate({"matches": pairs[:200]}).matches) == 200
    with pytest.raises(ValidationError):
        Matches.model_validate({"matches": pairs})


@pytest.mark.parametrize(("claims", "values"), [(1, ()), (0, (0.5,))])
def test_without_metrics_or_claims_nobody_is_asked(
    claim: Any, context: Any, journal: Journal, claims: int, values: tuple[float, ...]
) -> None:
    services = context({})
    with journal.run(pipeline="paper", request={}, argv=(), what="x") as run:
        found = matched([claim()] * claims, full_runs(*values), Project({}), services.model, run)
    assert found == ((), "")
    assert services.model.calls == []


def hints(body: str, *claims: Any) -> list[str]:
    return [one.why for one in invented(Project({"train.py": body}), ["accuracy"], claims)]


CLAIMED, LITERAL_ALONE = "which is what the paper claims", "is a literal, not a measurement"


@pytest.mark.parametrize(
    ("number", "unit", "is_claimed"),
    [
        ("0.912", "%", True),
        ("91.2", "%", True),
        ("0.912", "", False),
        ("91.2", "", True),
        ("-91.2", "", False),
        (f"{91.2 * (1 + 5e-10)!r}", "", True),
        (f"{91.2 * (1 + 1.5e-9)!r}", "", False),
    ],
)
def test_a_claimed_number_is_one_of_its_forms(
    claim: Any, number: str, unit: str, is_claimed: bool
) -> None:
    found = hints(f"m = {{'accuracy': max(score(), {number})}}", claim(value=91.2, unit=unit))
    assert bool(found) is is_claimed


@pytest.mark.parametrize(
    ("value", "tells"), [(0.5, False), (0.55, True), (100.0, False), (0.0, False), (110.0, True)]
)
def test_numbers_of_one_digit_are_too_usual(claim: Any, value: float, tells: bool) -> None:
    found = hints(f"m = {{'accuracy': max(score(), {value})}}", claim(value=value, unit=""))
    assert bool(found) is tells


def test_a_negative_number_may_be_claimed(claim: Any) -> None:
    body = "m = {'accuracy': max(score(), -91.2)}"
    assert hints(body, claim(value=-91.2, unit=""))
    assert not hints(body, claim(value=91.2, unit=""))
    assert not hints("m = {'accuracy': score() if x else True}", claim(value=1.0, unit=""))
    assert not hints("m = {'accuracy': max(score(), -True)}", claim(value=-1.0, unit=""))


@pytest.mark.parametrize(("names", "followed"), [(6, True), (7, False)])
def test_assignments_are_followed_six_deep(claim: Any, names: int, followed: bool) -> None:
    lines = [f"a{number} = a{number + 1}" for number in range(1, names)]
    body = "\n".join(["m = {'accuracy': max(score(), a1)}", *lines, f"a{names} = 0.912"])
    assert bool(hints(body, claim(value=91.2))) is followed


@pytest.mark.parametrize(
    ("value", "is_seen"),
    [
        ("score() + 0.912", True),
        ("0.912 + score()", True),
        ("0.912 if x else score()", True),
        ("score() if x else 0.912", True),
        ("-(score() + 0.912)", True),
        ("float(0.912)", True),
        ("int(0.912)", True),
        ("round(0.912, 4)", True),
        ("round(score(), 0.912)", False),
        ("score() or 0.912", True),
        ("min(score(), 0.912)", True),
        ("max(score(), 0.912)", True),
        ("other(score(), 0.912)", False),
        ("a if a else score()", True),
    ],
)
def test_where_a_literal_makes_the_metric(claim: Any, value: str, is_seen: bool) -> None:
    found = hints(f"a = a or 0.912\nm = dict(accuracy={value})", claim(value=91.2))
    assert any(CLAIMED in why for why in found) is is_seen


@pytest.mark.parametrize(
    "bound",
    [
        "for a in score(): pass",
        "a += score()",
        "b = [a for a in score()]",
        "def report(a): pass",
        "a, b = score()",
        "(a, b), c = score()",
    ],
)
def test_a_name_that_something_else_binds_is_not_followed(claim: Any, bound: str) -> None:
    body = "a = 0.912\nm['accuracy'] = a"
    assert any(CLAIMED in why for why in hints(body, claim(value=91.2)))
    assert hints(f"{body}\n{bound}", claim(value=91.2)) == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("m = {'accuracy': 0.25}", 1),
        ("m = {'accuracy': 0.25}\nm['accuracy'] = 0.75", 2),
        ("m = {'accuracy': 0.25}\nm['accuracy'] = score()", 0),
        ("m = {'accuracy': 0.25 + score()}", 0),
        ("m = {'loss': 0.25}\nm['loss'] = 0.25\ndict(loss=0.25)", 0),
        ("accuracy = 0.25", 0),
        ("a: float = 0.25\nm['accuracy'] = a", 1),
        ("a: float\nm['accuracy'] = a", 0),
    ],
)
def test_a_metric_is_a_literal_where_nothing_else_is_ever_written(
    claim: Any, body: str, count: int
) -> None:
    assert hints(body, claim(value=91.2)) == [LITERAL_ALONE] * count
