"""How a diagnosis is put into words and pictures, from evidence that is made by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from made_evidence import seen, trace
from reenact.diagnosis.diagnosis import (
    Diagnosis,
)
from reenact.diagnosis.fixes.text import TextCheck
from reenact.diagnosis.grouping import grouped
from reenact.diagnosis.options import Depth
from reenact.faults.detector import suggest
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, finding_of
from reenact.faults.fix import DroppedFix, FixTried
from reenact.faults.observation import Observation, Observes, Severity, Suggestion
from reenact.faults.tried import ChangeEffect, InterventionResult
from reenact.probe.trace import Experiments, LearningRateRange, OneBatch, Trace, no_rows
from reenact.program.graph import TensorFacts
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import Program, program_from_text
from reenact.program.static_graph import static_graph
from reenact.report.document import Text
from reenact.report.render import FORMATS, render
from reenact.report.views.diagnosis import change_words, diagnosis_document, tried_words
from reenact.trials.budget import TrainingUsage
from reenact.types import Place

SOURCE = """import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=10.0)
"""
PLACE = Place(PurePosixPath("train.py"), 5, 52, 5, 56)


@pytest.fixture
def program() -> Program:
    return program_from_text(SOURCE)


@pytest.fixture
def evidence(program: Program) -> Evidence:
    tested = Experiments(
        OneBatch(3, (1.0, 0.9, 0.8), 0.5),
        LearningRateRange((1e-4, 1e-3, 1e-2, 1e-1), (2.0, 1.0, 0.5, 9.0)),
    )
    return Evidence(program, static_graph(program), experiments=tested)


def finding(code: str, confidence: float, **more: object) -> Finding:
    given: dict[str, object] = {
        "name": "some-name",
        "family": "reenact",
        "fault": FaultType.HLR,
        "severity": Severity.ERROR,
        "saw": f"seen by {code}",
        "why": "It must not be.",
        "place": PLACE,
    }
    seen = Observation(code=code, confidence=confidence, **(given | more))  # type: ignore[arg-type]
    return finding_of(seen)


def suggestion(program: Program) -> Suggestion:
    param = next(
        param for param in static_graph(program).hyperparameters if param.kind is Kind.LEARNING_RATE
    )
    return next(suggest(param, (0.001,)))


def diagnosis(
    evidence: Evidence, *findings: Finding, symptoms: tuple[Finding, ...] = ()
) -> Diagnosis:
    return Diagnosis(Depth.NORMAL, evidence, findings, (), symptoms, 0.5, TrainingUsage(1.0))


def found_by(*findings: Finding) -> Finding:
    (found,) = grouped(findings)
    return found


def with_fix(one: Finding, program: Program, tried: FixTried = FixTried.NOT_RUN) -> Finding:
    return TextCheck(program, ()).fixed(one, tried, "")


def test_a_fix_that_ran_is_not_something_to_try(program: Program, evidence: Evidence) -> None:
    one = found_by(finding("UM005", 0.9, suggestions=(suggestion(program),)))
    ran = with_fix(one, program, FixTried.SILENT)
    (notice,) = diagnosis_document(diagnosis(evidence, ran), "train.py").diagnostics
    assert "fix      - optimizer" in notice.detail
    assert "         ran, detector silent" in notice.detail
    assert "try " not in notice.detail


def test_where_no_edit_does_none_is_shown_and_the_reason_is_a_detail(
    program: Program, evidence: Evidence
) -> None:
    edit = suggestion(program)
    one = found_by(finding("UM005", 0.9, suggestions=(edit,)))
    none = replace(one, dropped_fixes=(DroppedFix(edit.patch, "it ends with AttributeError"),))
    document = diagnosis_document(diagnosis(evidence, none), "train.py")
    assert "lr=0.001" not in document.diagnostics[0].detail
    texts = [one.text for one in document.plain_blocks() if isinstance(one, Text)]
    assert any("it ends with AttributeError" in text for text in texts)
    brief = [one.text for one in document.plain_blocks(details=False) if isinstance(one, Text)]
    assert not any("AttributeError" in text for text in brief)


def test_a_finding_shows_its_line_the_change_and_the_witnesses(
    program: Program, evidence: Evidence
) -> None:
    first = finding("UM005", 0.9, suggestions=(suggestion(program),))
    others = [finding(code, 0.5) for code in ("RE019", "AT004", "AT005", "RE040")]
    found = with_fix(found_by(first, *others), program)
    (notice,) = diagnosis_document(diagnosis(evidence, found), "train.py").diagnostics
    lines = notice.detail.splitlines()
    assert lines[0].endswith("lr=10.0)")
    assert lines[1].index("^") == lines[0].index("10.0")
    assert "saw      seen by UM005" in lines
    assert any(line.startswith("try      - optimizer") for line in lines)
    assert any("+ optimizer" in line and "lr=0.001" in line for line in lines)
    assert any("and RE040" in line for line in lines)
    assert notice.next_step == "reenact explain UM005"
    assert "## What" in notice.help


def test_a_long_line_is_shown_around_the_place_and_the_change(
    evidence: Evidence,
) -> None:
    long = SOURCE.replace("lr=10.0", f"betas=({0.9:.60f}, 0.999), lr=10.0, weight_decay={0:.30f}")
    program = program_from_text(long)
    line = long.splitlines()[4]
    place = Place(PurePosixPath("train.py"), 5, line.index("10.0"), 5, line.index("10.0") + 4)
    one = with_fix(
        found_by(finding("UM005", 0.9, place=place, suggestions=(suggestion(program),))), program
    )
    known = replace(evidence, program=program, static=static_graph(program))
    (notice,) = diagnosis_document(diagnosis(known, one), "train.py").diagnostics
    source, mark, *rest = notice.detail.splitlines()
    assert source[mark.index("^") : mark.rindex("^") + 1] == "10.0"
    assert any("+" in reported and "lr=0.001" in reported for reported in rest)
    assert max(map(len, notice.detail.splitlines())) <= 96


def test_a_rule_about_this_fault_is_named_before_one_that_infers_it() -> None:
    infers = finding("AT002", 0.95)
    direct = finding("UM005", 0.6, detects=FaultType.HLR)
    (both,) = grouped([infers, direct])
    assert both.first.code == "AT002"
    assert both.headline.code == "UM005"
    (alone,) = grouped([infers])
    assert alone.headline.code == "AT002"


def test_what_was_tried_is_reported_and_drawn(program: Program, evidence: Evidence) -> None:
    before, after = (
        (-2.0, -2.5, -3.0, -2.2, -2.1, -math.inf),
        (-0.1, -0.2, -0.1, -0.3, -0.2, -0.1),
    )
    tried = ChangeEffect(
        patch=suggestion(program).patch,
        metric="val_loss",
        larger_is_better=False,
        before=before,
        after=after,
        p_value=0.0156,
        confirmed=True,
        cpu_seconds=9.0,
    )
    one = replace(
        found_by(finding("UM005", 0.9)),
        status=InterventionResult.CONFIRMED,
        tried=tried,
    )
    document = diagnosis_document(diagnosis(evidence, one), "train.py")
    (notice,) = document.diagnostics
    assert "6 seeds, val_loss 2.36 +- 0.4 (1 failed) -> 0.167 +- 0.082 (p=0.016)" in notice.detail
    assert "1 confirmed by training" in document.verdict
    titles = [picture.title for picture in notice.pictures]
    assert titles == ["Before and after, one dot a seed", "Learning-rate range test"]
    assert "1 failed" in notice.pictures[0].svg
    assert "in force: 10" in notice.pictures[1].svg


def test_a_joint_change_is_reported_once(program: Program, evidence: Evidence) -> None:
    before, after = (0.1, 0.2, 0.1, 0.2, 0.1, 0.2), (0.9, 0.8, 0.9, 0.8, 0.9, 0.8)
    tried = ChangeEffect(
        patch=suggestion(program).patch,
        metric="accuracy",
        larger_is_better=True,
        before=before,
        after=after,
        p_value=0.0156,
        confirmed=True,
        cpu_seconds=9.0,
    )
    both = [finding("UM005", 0.9), finding("RE026", 0.8, fault=FaultType.OCH)]
    joint = [
        replace(found_by(one), status=InterventionResult.CONFIRMED, tried=tried) for one in both
    ]
    first, second = diagnosis_document(diagnosis(evidence, *joint), "train.py").diagnostics
    assert "6 seeds" in first.detail
    assert "together with UM005 some-name, see there" in second.detail
    assert "6 seeds" not in second.detail
    assert "6 seeds" in second.message, "formats of one line have no other finding to look at"
    assert second.pictures == ()


def test_what_a_rule_reported_once_is_not_repeated_for_every_layer(
    evidence: Evidence,
) -> None:
    layers = [
        finding("RE024", 0.8, fault=FaultType.WCI, layer=name, saw="too wide")
        for name in ("0", "2")
    ]
    first, second = diagnosis_document(
        diagnosis(evidence, *(found_by(one) for one in layers)), "train.py"
    ).diagnostics
    assert "why " in first.detail
    assert "why " not in second.detail
    assert "layer 2: too wide" in second.detail
    assert second.next_step == ""


def test_one_batch_is_drawn_for_the_rule_that_speaks_of_it(evidence: Evidence) -> None:
    one = found_by(finding("RE020", 0.9, name="cannot-overfit-one-batch", fault=FaultType.LCN))
    (notice,) = diagnosis_document(diagnosis(evidence, one), "train.py").diagnostics
    assert [picture.title for picture in notice.pictures] == ["Can it overfit one batch?"]


def test_no_fault_lists_symptoms_with_their_reason(evidence: Evidence) -> None:
    symptoms = grouped([finding("DL007", 0.8, fault=None, is_root_cause=False)])
    document = diagnosis_document(diagnosis(evidence, symptoms=symptoms), "train.py")
    assert (
        document.verdict
        == "Training looks broken (1 symptom), cause not identified. Try --depth deep."
    )
    assert "It must not be." in render(document, "full")
    harmless = grouped(
        [finding("DL007", 0.8, fault=None, severity=Severity.NOTE, is_root_cause=False)]
    )
    document = diagnosis_document(diagnosis(evidence, symptoms=harmless), "train.py")
    assert document.verdict.startswith("Nothing could be judged: "), "nobody saw a training"


def test_data_is_reported_once_a_split_however_often_it_was_evaluated(
    evidence: Evidence,
) -> None:
    def facts(split: str, rows: int) -> TensorFacts:
        return TensorFacts(
            split,
            "input",
            (None, 4),
            "float32",
            -1.0,
            1.0,
            0.0,
            0.5,
            0.0,
            0,
            None,
            None,
            rows,
        )

    nothing = no_rows(("step", "layer", "loss", "epoch", "backward_calls"))
    data = (
        facts("train", 80),
        facts("validation", 10),
        facts("validation", 20),
        facts("validation", 20),
    )
    trace = Trace(
        steps=nothing,
        layers=nothing,
        parameters=nothing,
        layer_names=(),
        parameter_facts=(),
        metrics=(),
        events=(),
        graph=None,
        data=data,
        overlaps=(),
        crash=None,
        complete=True,
        seconds=1.0,
        probe_seconds=0.0,
        missing=(),
    )
    text = render(
        diagnosis_document(diagnosis(replace(evidence, trace=trace)), "train.py"),
        "full",
    )
    assert text.count("validation input") == 1
    assert "20 rows in all batches" in text


def test_a_change_on_one_line(program: Program) -> None:
    known = suggestion(program)
    assert change_words(known) == "learning-rate: 10.0 -> 0.001"
    assert change_words(replace(known, new=None)) == "learning-rate: take 10.0 away"
    assert change_words(Suggestion(Patch(), None, None, None)) == "no change"


def test_a_suggestion_that_no_longer_applies_is_still_shown(
    program: Program, evidence: Evidence
) -> None:
    elsewhere = replace(evidence, program=program_from_text("print('another program')\n"))
    one = found_by(finding("UM005", 0.9, suggestions=(suggestion(program),)))
    (notice,) = diagnosis_document(diagnosis(elsewhere, one), "train.py").diagnostics
    assert "try      learning-rate: 10.0 -> 0.001" in notice.detail


@pytest.mark.parametrize("chosen", FORMATS)
def test_every_format_renders_hostile_names(evidence: Evidence, chosen: str) -> None:
    hostile = "</svg><script>x</script>\x1b[31m"
    one = found_by(finding("UM005", 0.9, layer=hostile, saw=hostile))
    text = render(diagnosis_document(diagnosis(evidence, one), hostile), chosen)
    assert "\x1b" not in text
    if chosen == "html":
        assert "<script" not in text
    if chosen in ("json", "sarif"):
        assert json.loads(text)


@pytest.mark.parametrize(
    ("p_value", "shortfall", "detectable", "words"),
    [
        (
            0.16,
            "",
            0.08,
            (
                "(p=0.160, not confirmed, a gain of 0.08 or more would have been seen 4 times out "
                "of 5)"
            ),
        ),
        (
            0.05,
            "",
            0.08,
            (
                "(p=0.050, not confirmed, a gain of 0.08 or more would have been seen 4 times out "
                "of 5)"
            ),
        ),
        (0.0499, "", 0.08, "(p=0.050, not confirmed)"),
        (0.16, "", None, "(p=0.160, not confirmed)"),
        (
            0.016,
            "no better than guessing",
            0.08,
            "(p=0.016, runs now, no improvement shown)",
        ),
    ],
)
def test_what_was_not_confirmed_says_what_could_have_been_seen(
    program: Program,
    p_value: float,
    shortfall: str,
    detectable: float | None,
    words: str,
) -> None:
    before, after = (0.5, 0.51, 0.5, 0.52, 0.5, 0.5), (0.52, 0.5, 0.53, 0.52, 0.5, 0.51)
    tried = ChangeEffect(
        patch=suggestion(program).patch,
        metric="val_accuracy",
        larger_is_better=True,
        before=before,
        after=after,
        p_value=p_value,
        shortfall=shortfall,
        detectable=detectable,
    )
    assert tried_words(tried).endswith(words)


def opinion(program: Program, **more: object) -> Finding:
    given = {"name": "model-opinion", "family": "model", "saw": "3 of 5 answers: Far too fast."}
    known = finding(
        "MD001", 0.5, observes=Observes.OPINION, suggestions=(suggestion(program),), **given | more
    )
    return found_by(known)


THOUGHT = "A model thinks, in 3 of 5 answers: Far too fast; nothing was executed."


@pytest.mark.parametrize("chosen", ["full", "html", "markdown"])
def test_opinions_are_shown_apart(program: Program, evidence: Evidence, chosen: str) -> None:
    found = replace(diagnosis(evidence), opinions=(opinion(program),))
    document = diagnosis_document(found, "train.py")
    assert document.diagnostics == ()
    text = " ".join(render(document, chosen).split())
    assert "Opinions of a model" in text
    assert THOUGHT in text
    assert "train.py:5:53 Wrong learning rate." in text
    assert "learning-rate: 10.0 -" in text


@pytest.mark.parametrize("chosen", ["sarif", "github", "concise"])
def test_no_format_that_lists_findings_alone_has_opinions(
    program: Program, evidence: Evidence, chosen: str
) -> None:
    found = replace(diagnosis(evidence), opinions=(opinion(program),))
    assert "MD001" not in render(diagnosis_document(found, "train.py"), chosen)


def test_json_lists_opinions_apart_and_has_none_among_its_notices(
    program: Program, evidence: Evidence
) -> None:
    found = replace(diagnosis(evidence), opinions=(opinion(program),))
    read = json.loads(render(diagnosis_document(found, "train.py"), "json"))
    assert [one["witnesses"][0]["code"] for one in read["data"]["opinions"]] == ["MD001"]
    assert (read["data"]["findings"], read["data"]["doubts"], read["notices"]) == ([], [], [])


def test_many_opinions_are_counted(program: Program, evidence: Evidence) -> None:
    places = [replace(PLACE, line=line) for line in range(1, 14)]
    several = tuple(opinion(program, place=place) for place in places)
    text = render(
        diagnosis_document(replace(diagnosis(evidence), opinions=several), "train.py"), "full"
    )
    assert text.count("A model thinks") == 10
    assert "3 more with --output-format json." in text


def test_a_finding_and_a_suspect_say_that_a_model_agrees(
    program: Program, evidence: Evidence
) -> None:
    agreeing = opinion(program).observations
    sure, doubted = (
        replace(found_by(finding(code, 0.9)), agreeing=agreeing) for code in ("UM005", "RE019")
    )
    found = replace(diagnosis(evidence, sure), low_confidence=(replace(doubted, confidence=0.1),))
    document = diagnosis_document(found, "train.py")
    (notice,) = document.diagnostics
    assert "opinion  a model agrees, in 3 of 5 answers: Far too fast." in notice.detail
    assert "also" not in notice.detail
    assert "possible, a model agrees" in render(document, "full")


def watched_diagnosis(*findings: Finding) -> Diagnosis:
    return Diagnosis(
        Depth.QUICK,
        seen(trace([2.0 * 0.9**step for step in range(60)])),
        findings,
        (),
        (),
        0.45,
        TrainingUsage(1.0),
        notes=("layer outputs not recorded from step 9 on",),
    )


def at_a_terminal(found: Diagnosis, *, details: bool) -> str:
    return render(diagnosis_document(found, "train.py"), "full", details=details)


def test_findings_stand_alone_at_a_terminal_and_the_rest_comes_on_demand() -> None:
    found = watched_diagnosis(finding("UM005", 0.95, fault=None))
    short = at_a_terminal(found, details=False)
    assert "The run" not in short
    assert "not recorded" not in short
    assert short.splitlines()[-1].startswith("1 finding, 1 proven.")
    assert str(found) == short.rstrip("\n")
    whole = at_a_terminal(found, details=True)
    assert "The run" in whole
    assert "not recorded from step 9" in whole


def test_a_sound_run_says_in_a_few_lines_what_was_checked() -> None:
    lines = at_a_terminal(watched_diagnosis(), details=False).splitlines()
    checked = lines[lines.index("Checked") + 1 : -2]
    assert 1 <= len(checked) <= 8
    assert any("60 steps, loss 2 -> " in line for line in checked)
    assert any("not recorded from step 9" in line for line in checked)
    assert lines[-1] == "No fault found at depth quick."


def test_the_last_line_says_what_to_type_next(program: Program) -> None:
    one = finding("UM005", 0.9, suggestions=(suggestion(program),))
    found = watched_diagnosis(one)
    found = replace(found, evidence=replace(found.evidence, program=program))
    last = at_a_terminal(found, details=False).splitlines()[-1]
    assert last == "1 finding, 1 proven. Next: reenact repair train.py"
