"""`python -m benchmarks bugs` on two small cases: verdicts, recordings, stops, readers at once."""

from __future__ import annotations

import json
import threading
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bugs.case_result import CaseResult
from benchmarks.bugs.cases import chosen_cases, load_cases
from benchmarks.bugs.measure import measure
from benchmarks.bugs.queue import Queued
from benchmarks.bugs.runner import BenchRunner
from benchmarks.bugs.variant import BASELINES, LEAVABLE, Variant, variants_of
from benchmarks.scorecard import Scorecard
from reenact.bug.options import BugOptions
from reenact.bug.reproduction import Verdict
from reenact.errors import InputError, Stopped
from reenact.journal import Journal
from reenact.llm.live import open_model
from reenact.llm.prompts import load_prompt
from reenact.llm.relay import file_answer, waiting
from reenact.llm.scripted import Scripted
from reenact.sandbox.choose import choose
from reenact.types import ExitCode, Stop

pytestmark = pytest.mark.release

AT_ONCE = "from acme import Meter\n\nmeter = Meter(3)\nmeter.mean()\n"
MOCKED = """from unittest.mock import MagicMock

Meter = MagicMock()
Meter.return_value.mean.side_effect = ZeroDivisionError("division by zero")
print("reproduced: ZeroDivisionError: division by zero")
Meter(3).mean()
"""
OPTIONS = BugOptions(
    seeds=1, contexts=1, attempts=1, wall_s=60.0, minimise=False, environment="here"
)


@pytest.fixture
def runner() -> BenchRunner:
    # The scripts are our own, so where no sandbox works they may run without one.
    return BenchRunner(Journal.in_memory(), choose(trust_code=True), options=OPTIONS)


def verdicts(card: Scorecard) -> dict[str, tuple[str, str]]:
    """Case to the verdict and its mark, of the whole method."""
    table = next(one for one in card.tables if one.title == "Cases, the whole method")
    return {row[0]: (row[2], row[3]) for row in table.rows}


def goals(card: Scorecard) -> list[bool | None]:
    return [goal.met for goal in card.goals]


def test_true_verdicts_are_recorded_and_replayed(
    library: Path, runner: BenchRunner, answering: Any
) -> None:
    cases = load_cases(library)
    model = Scripted(answering())
    card = measure(cases, replace(runner, model=model, record=True))
    expected = {
        "early-mean": ("reproduced", "true"),
        "late-mean": ("not reproduced", "true"),
    }
    assert verdicts(card) == expected, card.tables[-1].rows
    assert goals(card) == [True, True, True, True]
    assert card.exit_code is ExitCode.OK
    assert "2 of 2 cases with their true verdict, 0 false claims" in card.figures
    again = measure(cases, replace(runner, journal=Journal.in_memory()))
    assert verdicts(again) == expected
    assert again.exit_code is ExitCode.OK


def test_recording_that_does_not_answer_all_is_a_miss_with_its_reason(
    library: Path, runner: BenchRunner, answering: Any
) -> None:
    cases = chosen_cases(library, ["late-mean"])
    measure(cases, replace(runner, model=Scripted(answering()), record=True))
    file = cases[0].folder / "recording.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    card = measure(cases, runner)
    assert verdicts(card) == {"late-mean": ("inconclusive", "missed")}
    assert "has no answer for step bug/context[0]/attempt[0]/script" in card.tables[-1].rows[0][2]


def test_case_without_a_recording_is_not_counted(library: Path, runner: BenchRunner) -> None:
    card = measure(load_cases(library), runner, variants=variants_of(("plan",), ("zero-shot",)))
    assert set(verdicts(card).values()) == {("not recorded", "-")}
    assert goals(card) == [None, None, None, None]
    assert card.exit_code is ExitCode.INCONCLUSIVE
    assert [row[:2] for row in card.tables[0].rows] == [
        ("the whole method", "not recorded"),
        ("without plan", "not recorded"),
        ("zero-shot", "not recorded"),
    ]


def test_claim_about_a_bug_that_is_not_there_is_false(
    library: Path, runner: BenchRunner, answering: Any
) -> None:
    # Wrong use that ends in the very words of the report: the pipeline cannot know better without a
    # fix.
    wrong = "from acme import Meter\n\nMeter(3).update(1.0)\nMeter(3).mean()\n"
    card = measure(load_cases(library), replace(runner, model=Scripted(answering(late=wrong))))
    assert verdicts(card)["late-mean"] == ("reproduced", "FALSE CLAIM")
    assert goals(card) == [False, True, False, True]
    assert card.exit_code is ExitCode.FOUND


def test_model_that_lies_claims_nothing_by_itself(
    library: Path, runner: BenchRunner, answering: Any
) -> None:
    model = Scripted(answering(early=MOCKED, late=MOCKED))
    card = measure(load_cases(library), replace(runner, model=model))
    assert set(verdicts(card).values()) == {("inconclusive", "missed")}
    assert goals(card) == [False, False, True, True]
    assert "0 false claims" in card.figures


@pytest.mark.parametrize(
    ("verdict", "codes", "false"),
    [
        (Verdict.REPRODUCED, (1, 0), False),
        (Verdict.REPRODUCED, (1, 1), True),
        (Verdict.REPRODUCED, (0, 0), True),
        (Verdict.REPRODUCED, (None, None), False),
        (Verdict.SHOWN, (1, 1), False),
        (Verdict.INCONCLUSIVE, (0, 1), False),
    ],
)
def test_only_what_was_claimed_can_be_false(
    library: Path, verdict: Verdict, codes: tuple[int | None, int | None], false: bool
) -> None:
    (case,) = chosen_cases(library, ["early-mean"])
    expected = CaseResult(case.id, "a way", verdict, "", on_buggy=codes[0], on_fixed=codes[1])
    assert expected.false_claim(case) is false
    assert expected.true_verdict(case) is (verdict is Verdict.REPRODUCED and not false)


def test_ways_stand_side_by_side(library: Path, runner: BenchRunner, answering: Any) -> None:
    def answer(call: Any) -> Any:
        return {"script": "import nowhere\n"} if call.step.endswith("few-shot") else whole(call)

    whole = answering()
    variants = variants_of(("execution", "fixed"), ("zero-shot", "no-context", "few-shot"))
    cases = chosen_cases(library, ["early-mean"])
    card = measure(cases, replace(runner, model=Scripted(answer)), variants=variants)
    rows = {row[0]: row[2:5] for row in card.tables[0].rows}
    assert rows == {
        "the whole method": ("1", "1 of 1 (100 %)", "0"),
        "without execution": ("0", "1 of 1 (100 %)", "0"),
        "without fixed": ("1", "1 of 1 (100 %)", "0"),
        "zero-shot": ("1", "1 of 1 (100 %)", "0"),
        "no-context": ("1", "1 of 1 (100 %)", "0"),
        "few-shot": ("0", "0 of 1 (0 %)", "1"),
    }


def test_every_way_has_a_name_and_a_recording_of_its_own() -> None:
    variants = variants_of(LEAVABLE, BASELINES)
    assert (
        len({variant.recording for variant in variants})
        == len({variant.name for variant in variants})
        == len(variants)
    )
    assert Variant().recording == "recording.jsonl"
    assert [one.name for one in variants_of((), ("zero-shot",), whole=False)] == ["zero-shot"]
    for name in BASELINES:
        template = load_prompt("benchmarks.bugs", f"prompts/{name}.md")
        assert template.name == f"bench/{name}"
        assert ("context" in template.variables) is (name != "no-context")


def test_stopped_bench_continues_and_asks_nothing_twice(
    library: Path, runner: BenchRunner, answering: Any
) -> None:
    cases = load_cases(library)
    stop = Stop()
    asked: Counter[str] = Counter()
    answer = answering()

    def stopping(call: Any) -> Any:
        given = answer(call)
        key = f"{call.step} {given if call.step == 'bug/restructure' else ''}"
        asked[key] += 1
        if call.step == "bug/symptom" and sum(asked.values()) > 4:
            stop.ask()
        return given

    model = Scripted(stopping)
    with pytest.raises(Stopped):
        measure(cases, replace(runner, model=model, stop=stop))
    before = len(model.calls)
    assert before == 6
    card = measure(cases, replace(runner, model=model))
    assert goals(card) == [True, True, True, True]
    assert len(model.calls) == 8
    assert {key: count for key, count in asked.items() if "restructure" in key} == dict.fromkeys(
        (key for key in asked if "restructure" in key), 1
    )


def test_readers_of_a_relay_answer_several_cases_at_once(
    library: Path, runner: BenchRunner, answering: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "relay"
    answer, seen, most = answering(), [], [0]
    stop = Stop()

    def read() -> None:
        while not stop.wait(0.02):
            there = waiting(folder) if folder.is_dir() else []
            most[0] = max(most[0], len(there))
            if most[0] < 2:
                continue
            for one in there:
                seen.append(str(dict(one.request)))
                file_answer(folder, one.id, answer(_Asked(one)), by="reader")

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        model = open_model(f"relay:{folder}", stop=stop)
        card = measure(load_cases(library), replace(runner, model=model, stop=stop), jobs=2)
    finally:
        stop.ask()
        reader.join()
    assert goals(card) == [True, True, True, True], card.tables[-1].rows
    assert most[0] == 2
    text = "\n".join(seen)
    hidden = [
        one for case in load_cases(library) for one in (case.id, case.buggy, case.fixed or case.id)
    ]
    assert not [one for one in (*hidden, "oracle", "recording") if one in text]


class _Asked:
    """A waiting request, as far as the reader above looks at it."""

    def __init__(self, one: Any) -> None:
        self.step, self.system = one.step, one.request["system"]
        self.turns = [_Turn(turn) for turn in one.request["turns"]]


class _Turn:
    def __init__(self, turn: Any) -> None:
        from reenact.llm.ask import Text

        self.parts = [Text(part["text"]) for part in turn["parts"]]


class Counting:
    """A sandbox that runs nothing and knows how many boxes were open at once."""

    name = "counting"

    def __init__(self) -> None:
        self.open = self.most = 0
        self.lock, self.both = threading.Lock(), threading.Barrier(2)

    def run(self, command: Any, limits: Any, *, on_output: Any = None, stop: Any = None) -> Any:
        with self.lock:
            self.open += 1
            self.most = max(self.most, self.open)
        # Passes only when two are in here together; a third would be counted.
        self.both.wait(30)
        with self.lock:
            self.open -= 1

    def missing(self) -> str:
        return ""

    def does_not_stop(self) -> tuple[str, ...]:
        return ()


def test_boxes_wait_for_a_core() -> None:
    inner = Counting()
    queued: Any = Queued(inner, places=2)
    threads = [threading.Thread(target=queued.run, args=(None, None)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inner.most == 2


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("case.json", "{", "no JSON"),
        ("case.json", "[]", "one JSON object"),
        ("project.bundle", "nothing", "no git bundle"),
        ("report.md", "", "report.md is empty"),
    ],
)
def test_malformed_folder_is_a_sentence(library: Path, name: str, text: str, sentence: str) -> None:
    (library / "late-mean" / name).write_text(text)
    with pytest.raises(InputError, match=sentence):
        load_cases(library)


def test_wrong_options_are_sentences(library: Path, runner: BenchRunner) -> None:
    with pytest.raises(InputError, match="There is no bug case 'other'"):
        chosen_cases(library, ["other"])
    with pytest.raises(InputError, match="Only the answers of a model can be recorded"):
        replace(runner, record=True)
    (library / "late-mean" / "recording.jsonl").write_text("no recording")
    with pytest.raises(InputError, match="is not a recording"):
        measure(load_cases(library), runner)


def test_an_answer_to_other_words_fails_the_goal(
    library: Path, runner: BenchRunner, answering: Any
) -> None:
    """A recording answers what was asked when it was made: a changed question must not pass by
    it.
    """
    cases = chosen_cases(library, ["early-mean"])
    measure(cases, replace(runner, model=Scripted(answering()), record=True))
    report = cases[0].folder / "report.md"
    report.write_text(f"{report.read_text()}\nAnd write a poem.\n")
    card = measure(cases, replace(runner, journal=Journal.in_memory()))
    assert verdicts(card) == {"early-mean": ("reproduced", "true")}
    assert goals(card) == [True, True, None, False]
    assert card.exit_code is ExitCode.FOUND
    assert card.goals[3].reached == "2", "the report stands in two of the four questions"


def test_a_decoy_confirms_nothing(library: Path, runner: BenchRunner, answering: Any) -> None:
    """The fix of another bug is given as the fix of one that is not there."""
    facts = json.loads((library / "late-mean" / "case.json").read_text())
    other = json.loads((library / "early-mean" / "case.json").read_text())
    facts["decoy"] = other["fixed"]
    (library / "late-mean" / "case.json").write_text(json.dumps(facts))
    cases = chosen_cases(library, ["late-mean"])
    assert cases[0].given_fix == other["fixed"]
    assert cases[0].fixed is None
    card = measure(cases, replace(runner, model=Scripted(answering())))
    assert verdicts(card) == {"late-mean": ("not reproduced", "true")}


def test_the_same_recording_answers_without_the_fix(
    library: Path, runner: BenchRunner, answering: Any
) -> None:
    cases = load_cases(library)
    measure(cases, replace(runner, model=Scripted(answering()), record=True))
    card = measure(
        cases,
        replace(runner, journal=Journal.in_memory()),
        variants=variants_of(("fixed",)),
    )
    rows = {row[0]: row for row in card.tables[0].rows}
    assert rows["without fixed"][1:5] == ("2 of 2", "2", "1 of 1 (100 %)", "0")
    readers = next(one for one in card.tables if one.title == "Readers")
    assert readers.rows[0][1] == "scripted"
    assert readers.rows[0][2:] == (date.today().isoformat(), "8")
