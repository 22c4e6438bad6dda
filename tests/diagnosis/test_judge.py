"""Judging what is there: rules on a text alone, suppressed and threshold as in the whole
pipeline.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reenact.diagnosis.grouping import grouped
from reenact.diagnosis.judge import conclude, diagnose_evidence
from reenact.diagnosis.judgement import Judgement, accusing_symptoms
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding, finding_of
from reenact.faults.registry import detector
from reenact.faults.tried import InterventionResult
from reenact.probe.trace import Columns, Experiments, Trace, no_rows
from reenact.program.program import program_from_text
from reenact.program.static_graph import static_graph
from reenact.report.render import render
from reenact.report.views.diagnosis import diagnosis_document
from reenact.testing.faults import evidence_of
from reenact.trials.budget import TrainingUsage

HOT = """\
import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=10.0){comment}
"""


def evidence(comment: str = "") -> Evidence:
    program = program_from_text(HOT.format(comment=comment))
    return Evidence(program, static_graph(program))


def test_what_a_rule_names_is_untried() -> None:
    (one,) = diagnose_evidence(evidence(), DiagnoseOptions(depth=Depth.STATIC)).findings
    assert (one.first.code, one.status) == ("UM005", InterventionResult.UNTRIED)


@pytest.mark.parametrize(
    ("comment", "options"),
    [
        ("  # reenact: ignore[UM005]", DiagnoseOptions()),
        ("", DiagnoseOptions(ignore=("UM005",))),
        ("", DiagnoseOptions(select=("NL",))),
    ],
)
def test_what_is_waved_through_or_not_asked_is_silent(
    comment: str, options: DiagnoseOptions
) -> None:
    assert not diagnose_evidence(evidence(comment), options).findings


def test_what_is_less_sure_than_wanted_is_a_doubt() -> None:
    found = diagnose_evidence(evidence(), DiagnoseOptions(threshold=0.999))
    assert not found.findings
    assert [one.first.code for one in found.low_confidence] == ["UM005"]


def test_without_evidence_there_is_nothing_to_say() -> None:
    found = diagnose_evidence(Evidence(), DiagnoseOptions())
    assert (found.findings, found.low_confidence, found.symptoms) == ((), (), ())


def run(losses: list[float]) -> Evidence:
    """A watched run of which the losses alone are known."""
    steps = Columns(
        ("step", "loss", "optimizer"),
        np.array([[n, loss, 0] for n, loss in enumerate(losses)]),
    )
    empty = no_rows(("step", "layer", "parameter", "phase"))
    trace = Trace(steps, empty, empty, (), (), (), (), None, (), (), None, True, 1.0, 0.1, ())
    return Evidence(trace=trace)


def judged(seen: Evidence, symptoms: tuple[Finding, ...]) -> Judgement:
    return conclude(seen, DiagnoseOptions(), symptoms, TrainingUsage(0.0)).judgement


@pytest.mark.parametrize(
    ("layer", "losses", "judgement"),
    [
        pytest.param(
            "attention",
            [1.0] * 6,
            Judgement.SOUND,
            id="a layer of a training that hardly began",
        ),
        pytest.param(
            "attention",
            [1.0] * 30 + [0.1] * 30,
            Judgement.SOUND,
            id="a layer beside what learns",
        ),
        pytest.param("attention", [1.0] * 60, Judgement.BROKEN, id="a layer, and nothing learns"),
        pytest.param("", [1.0] * 6, Judgement.BROKEN, id="the training itself"),
        pytest.param(
            "",
            [1.0] * 30 + [0.8] * 30,
            Judgement.SOUND,
            id="a training that learns something",
        ),
    ],
)
def test_what_stands_still_in_one_layer_breaks_no_training_that_goes_on(
    layer: str, losses: list[float], judgement: Judgement
) -> None:
    seen = run(losses)
    (still,) = detector("DL005").finding(seen, "weights unchanged", confidence=0.85).observations
    finding = finding_of(replace(still, layer=layer))
    assert judged(seen, grouped([finding])) is judgement


@pytest.mark.parametrize(
    ("losses", "judgement"),
    [([1.0] * 60, Judgement.BROKEN), ([1.0] * 30 + [0.8] * 30, Judgement.SOUND)],
)
def test_a_training_that_learns_nothing_is_never_called_sound(
    losses: list[float], judgement: Judgement
) -> None:
    seen = run(losses)
    stalls = grouped([detector("TC010").finding(seen, "loss 1 in the beginning and 1 in the end")])
    assert judged(seen, stalls) is judgement


TWO_NETWORKS = """\
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
first = torch.optim.Adam(generator.parameters(), lr=2e-4)
second = torch.optim.Adam(critic.parameters(), lr=2e-4)
criterion = nn.BCEWithLogitsLoss()
for step in range(30):
    real, fake = torch.randn(32, 2) + 3, generator(torch.randn(32, 4))
    second.zero_grad()
    lost = criterion(critic(real), torch.ones(32, 1)) + criterion(critic(fake.detach()), torch.zeros(32, 1))
    lost.backward()
    second.step()
    first.zero_grad()
    criterion(critic(fake), torch.ones(32, 1)).backward()
    first.step()
"""


@pytest.mark.release
def test_a_run_of_two_networks_hides_nothing_that_the_text_proves() -> None:
    read, ran = (
        {
            one.first.code
            for one in diagnose_evidence(
                evidence_of(TWO_NETWORKS, run=run), DiagnoseOptions()
            ).findings
        }
        for run in (False, True)
    )
    assert read == {"RE002"}
    assert read <= ran


def test_what_there_was_no_time_for_is_reported_in_place_of_no_fault_found() -> None:
    seen = run([1.0] * 30 + [0.1] * 30)
    unchecked = ("which learning rates are usable", "how the model behaves")
    busy = replace(seen, experiments=Experiments(unchecked=unchecked))
    said = [
        conclude(one, DiagnoseOptions(depth=Depth.QUICK), (), TrainingUsage(0.0)).sentence
        for one in (seen, busy)
    ]
    assert said == [
        "No fault found at depth quick.",
        "Nothing was found at depth quick, and not all was checked: there was no time for which "
        "learning rates are usable and how the model behaves.",
    ]


def test_what_a_sound_training_shows_is_reported_to_be_no_fault_by_itself() -> None:
    seen = run([1.0] * 30 + [0.8] * 30)
    (symptom,) = (
        detector("RE020").finding(seen, "100 steps on one batch took the loss from 1 to 0.9"),
    )
    found = conclude(
        seen, DiagnoseOptions(depth=Depth.QUICK), grouped([symptom]), TrainingUsage(0.0)
    )
    assert found.judgement is Judgement.SOUND
    assert found.sentence == (
        "No fault found at depth quick. By itself, what was seen is not a fault: "
        "cannot-overfit-one-batch."
    )
    assert not accusing_symptoms(found.judgement, found.symptoms, found.threshold)
    shown = render(diagnosis_document(found, "train.py"), "full")
    assert "Seen, and no fault by itself" in shown
    assert symptom.first.why not in shown


def test_what_a_broken_training_shows_speaks_against_it() -> None:
    seen = run([1.0] * 60)
    stalls = grouped([detector("TC010").finding(seen, "loss 1 in the beginning and 1 in the end")])
    assert accusing_symptoms(Judgement.BROKEN, stalls, 0.5) == stalls
