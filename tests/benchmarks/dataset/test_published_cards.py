"""Score cards do not change when their code does: published results, read back and scored again.

A table lists each finding by its first code and place, so that not everything comes back that a run
saw. Where it does, the card is the published one; of every split it is the one that the code before
the data set made (cards.json).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.dataset.card import scorecard
from benchmarks.dataset.repair_card import repair_scorecard
from benchmarks.dataset.result import NamedFault, TrainingDiagnosis, TrainingRepair
from benchmarks.dataset.scoring import scored
from benchmarks.dataset.splits import published, trainings_of
from benchmarks.results import Result, read_result
from benchmarks.scorecard import Scorecard, Table
from reenact.faults.fault_type import FaultType

RESULTS = Path(__file__).parents[3] / "docs" / "benchmarks" / "results"
CARDS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("cards.json").read_bytes())
COMPLETE = (
    "modern-fifth",
    "modern-later",
    "modern-ninth",
    "modern-tenth",
    "field-fresh-quick",
    "field-later-quick",
)
"""Results whose tables hold all that their card was made of."""
DECISIONS = (
    "repaired",
    "improved",
    "nothing-found",
    "not-trained",
    "too-small",
    "undecided",
)

_CODE = r"[A-Z]{2,3}\d{2,3}"
_OWN_HEAD = rf"{_CODE}(?: [^\s:]+:\d+)? \([\d.]+\): "
_OWN = re.compile(
    rf"(?:^|; )(?P<code>{_CODE})(?: (?P<file>[^\s:]+):(?P<line>\d+))? "
    rf"\((?P<confidence>[\d.]+)\): (?P<saw>.*?)(?=; {_OWN_HEAD}|$)"
)
_FOREIGN = re.compile(
    rf"(?P<fault>[A-Z]{{3}}|-)(?::(?P<line>\d+))? (?P<code>{_CODE}) "
    r"\((?P<confidence>[\d.]+), (?P<status>[\w-]+)\)"
)


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """One finding, as far as a table shows it."""

    code: str
    file: str
    line: int | None
    confidence: float
    saw: str = ""
    fault: str = ""
    status: str = ""


@dataclass(frozen=True, slots=True)
class Reported:
    """One program."""

    findings: tuple[ReportedFinding, ...] = ()
    sentence: str = ""
    judgement: str = ""
    seconds: float = 0.0
    could_not_run: str = ""


def own_programs(result: Result) -> Mapping[str, Reported]:
    """Of a results file over programs that were written for the benchmark."""
    found = {}
    for title, row in _rows(result):
        if title == "Faulty programs":
            found[row[0]] = _of_own(row[3], float(row[4]))
        elif title == "False alarms on sound programs":
            found[row[0]] = _of_own(row[2], 0.0)
        elif title == "Could not be run":
            found[row[0]] = Reported(could_not_run=row[1])
    return found


def foreign_programs(result: Result) -> Mapping[str, Reported]:
    """Of a results file over programs that nobody here wrote."""
    found = {}
    for title, row in _rows(result):
        if title.endswith(("of which a true fault was named", "missed")):
            found[row[0]] = _of_foreign(row[2], float(row[4]))
        elif title.endswith("with a false alarm"):
            found[row[0]] = _of_foreign(row[2], 0.0)
        elif title.endswith("could not be run"):
            found[row[0]] = Reported(could_not_run=row[1])
    return found


def _rows(result: Result) -> Iterator[tuple[str, tuple[str, ...]]]:
    for table in result.tables:
        for row in table.rows:
            yield table.title, tuple(map(str, row))


def _of_own(text: str, seconds: float) -> Reported:
    findings = tuple(
        ReportedFinding(
            one["code"],
            one["file"] or "",
            int(one["line"]) if one["line"] else None,
            float(one["confidence"]),
            saw=one["saw"],
        )
        for one in _OWN.finditer(text)
    )
    return _reported(findings, "" if findings else text, seconds)


def _of_foreign(text: str, seconds: float) -> Reported:
    findings = tuple(
        ReportedFinding(
            one["code"],
            "",
            int(one["line"]) if one["line"] else None,
            float(one["confidence"]),
            fault=one["fault"].strip("-"),
            status=one["status"],
        )
        for one in _FOREIGN.finditer(text)
    )
    return _reported(findings, _FOREIGN.split(text)[0].strip(), seconds)


def _reported(findings: tuple[ReportedFinding, ...], sentence: str, seconds: float) -> Reported:
    judgement = "broken" if "looks broken" in sentence and not findings else ""
    return Reported(findings, sentence, judgement, seconds)


def own_card(name: str) -> Scorecard:
    """Of programs that are kept here."""
    half = "fresh" if name == "modern-fresh-later" else name.partition("-")[2]
    split = published("modern")[half]
    trainings = trainings_of(split)
    reported = own_programs(read_result(RESULTS / f"{name}.json"))
    results = [
        _diagnosis(one.id, "quick", reported.get(one.shown, Reported())) for one in trainings
    ]
    return scorecard(scored(split, trainings, results, depth="quick", whole=True))


def foreign_card(name: str) -> Scorecard:
    """Of foreign programs."""
    split = published("field")[name.split("-")[1]]
    depth = "normal" if name.endswith("normal") else "quick"
    result = read_result(RESULTS / f"{name}.json")
    reported = foreign_programs(result)
    trainings = [
        one for one in trainings_of(split) if not (one.sound and "--kind faulty" in result.command)
    ]
    results = [_diagnosis(one.id, depth, reported.get(one.shown, Reported())) for one in trainings]
    return scorecard(scored(split, trainings, results, depth=depth, whole=True))


def repair_card(half: str) -> Scorecard:
    """Of repairs that go through every decision."""
    split = published("field")[half]
    trainings = [one for one in trainings_of(split) if not one.sound]
    results = []
    for number, training in enumerate(trainings):
        lacks = number % 11 == 10
        has_fix = training.foreign is not None and training.foreign.fixed is not None
        after = 0.9 if number % 4 else 0.1
        results.append(
            TrainingRepair(
                training.id,
                "",
                10,
                "code",
                "start",
                could_not_run="packages: x" if lacks else "",
                decision="" if lacks else DECISIONS[number % len(DECISIONS)],
                sentence=f"sentence {number}",
                metric="accuracy",
                before=tuple(0.1 + number * 0.01 + seed * 0.001 for seed in range(6)),
                after=tuple(after + seed * 0.001 for seed in range(6)),
                author=(0.8, None, 0.7) if has_fix else (),
                as_good=number % 3 == 0 if has_fix else None,
                trainings=number,
                seconds=60.0 * number,
            )
        )
    return repair_scorecard(split, trainings, results, whole=True)


def _diagnosis(training: str, depth: str, reported: Reported) -> TrainingDiagnosis:
    return TrainingDiagnosis(
        training,
        depth,
        "code",
        "start",
        could_not_run=reported.could_not_run,
        judgement=reported.judgement,
        sentence=reported.sentence,
        findings=tuple(map(_named, reported.findings)),
        seconds=reported.seconds,
    )


def _named(finding: ReportedFinding) -> NamedFault:
    line = finding.line
    places = () if line is None else ((finding.file, line, line),)
    fault = FaultType(finding.fault) if finding.fault else None
    return NamedFault(
        (finding.code,),
        places,
        finding.confidence,
        finding.saw,
        fault=fault,
        status=finding.status,
    )


def _digest(tables: Sequence[Table]) -> str:
    listed = [
        [table.title, list(table.columns), [list(row) for row in table.rows]] for table in tables
    ]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def _facts(card: Scorecard) -> dict[str, Any]:
    return {
        "name": card.name,
        "closing": card.figures,
        "figures": {name: list(figure.row) for name, figure in card.measured.items()},
        "goals": [[goal.name, goal.wanted, goal.reached, goal.met] for goal in card.goals],
        "tables": _digest(card.tables),
    }


def _card(name: str) -> Scorecard:
    if name.endswith("-repair"):
        return repair_card(name.split("-")[1])
    return own_card(name) if name.startswith("modern-") else foreign_card(name)


@pytest.mark.parametrize("name", CARDS)
def test_the_card_is_the_one_that_was_made_before(name: str) -> None:
    assert _facts(_card(name)) == CARDS[name]


@pytest.mark.parametrize("name", COMPLETE)
def test_published_results_give_their_own_tables_and_figures_again(name: str) -> None:
    result, card = read_result(RESULTS / f"{name}.json"), _card(name)

    assert card.figures == result.closing
    assert _digest(card.tables) == _digest(result.tables)
    reached = [(goal.name, goal.reached) for goal in card.goals]
    assert reached == [(goal.name, goal.reached) for goal in result.goals]
