"""What a model thinks is listed apart, counts in no verdict, and makes no detector surer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.judge import placed_in_settings, read_only
from reenact.diagnosis.judgement import Judgement
from reenact.diagnosis.llm_detector import CODE, answers_of
from reenact.diagnosis.opinions import with_opinions
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose
from reenact.diagnosis.services import DiagnoseServices
from reenact.faults.confidence import Word
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, finding_of
from reenact.faults.tried import InterventionResult
from reenact.journal import Journal
from reenact.journal.codec import Flattening, decoder
from reenact.llm.scripted import Scripted
from reenact.probe.opened import Opened, OpenedFile
from reenact.probe.outcome import OutcomeKind
from reenact.program.hyperparameter import Kind
from reenact.program.program import Program, program_from_text, read_program
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.trial import Outcome, Trial
from reenact.types import ExitCode

SOUND = """import torch
from torch import nn
from reenact.testing.toys import blobs

x, y = map(torch.from_numpy, blobs(320, spread=2.0))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(
    model.parameters(),
    lr=RATE,
)
for epoch in range(12):
    for start in range(0, 256, 32):
        rows, classes = x[start : start + 32], y[start : start + 32]
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), classes).backward()
        optimizer.step()
with torch.no_grad():
    print("test accuracy:", (model(x[256:]).argmax(1) == y[256:]).float().mean().item())
"""
RATE = {"fault": "HLR", "line": 9, "old": "0.001", "new": "0.01", "reason": "It is slow."}
BENT = {"fault": "ACH", "line": 6, "old": "ReLU", "new": "tanh", "reason": "It dies."}


def read(rate: str = "0.001") -> Program:
    return program_from_text(SOUND.replace("RATE", rate))


def diagnosed(program: Program, *faults: dict[str, Any], samples: int = 20) -> Diagnosis:
    """By the text alone; every answer names the same faults."""
    with Journal.in_memory() as journal:
        model = Scripted(lambda _: {"faults": list(faults)}) if faults else None
        services = DiagnoseServices(journal, Path("traces"), model=model)
        return diagnose(program, DiagnoseOptions(depth=Depth.STATIC, samples=samples), services)


def test_however_many_answers_agree_an_opinion_is_no_finding_and_no_exit_code() -> None:
    found = diagnosed(read(), RATE)
    (opinion,) = found.opinions
    assert (opinion.code, opinion.line, opinion.confidence) == (CODE, 9, 0.9 - 0.01)
    assert (found.findings, found.judgement, found.exit_code) == ((), Judgement.SOUND, ExitCode.OK)
    assert CODE not in {one.code for one in (*found.low_confidence, *found.symptoms)}
    assert opinion.is_opinion
    assert opinion.word is Word.POSSIBLE
    assert str(opinion).startswith("MD001 model-opinion at train.py:9:8: A model thinks, in 20 of ")
    assert "It is slow; nothing was executed." in opinion.message


def test_an_opinion_with_which_a_detector_agrees_makes_it_no_surer() -> None:
    program = read("5.0")
    (alone,) = diagnosed(program).findings
    for line in (7, 9):
        found = diagnosed(program, {**RATE, "line": line})
        (both,) = found.findings
        assert found.opinions == ()
        assert [one.code for one in both.witnesses] == [alone.code, CODE]
        assert not both.is_opinion
        for name in ("suspicion", "confidence", "word", "place", "hyperparameter", "layer", "key"):
            assert getattr(both, name) == getattr(alone, name), name


@pytest.mark.parametrize(
    "elsewhere", [{"line": 11}, {"line": 16}, {"fault": "OCH"}, {"fault": "HWD"}]
)
def test_an_opinion_on_another_line_or_fault_is_none_of_a_detectors(
    elsewhere: dict[str, Any],
) -> None:
    found = diagnosed(read("5.0"), {**RATE, **elsewhere})
    assert [one.agreeing for one in found.findings] == [()]
    assert [one.line for one in found.opinions] == [elsewhere.get("line", 9)]


def test_an_opinion_on_another_layer_of_the_line_is_none_of_a_detectors() -> None:
    program = program_from_text(
        "from torch import nn\n"
        "model = nn.Sequential(nn.Linear(8, 9), nn.Sigmoid(), nn.Linear(9, 9), nn.ReLU(), "
        "nn.Linear(9, 3))\n"
    )
    (doubt,) = diagnosed(program).low_confidence
    assert doubt.fault is FaultType.ACH
    found = diagnosed(program, *({**BENT, "line": 2, "layer": name} for name in ("0", "2")))
    assert [len(one.agreeing) for one in found.low_confidence] == [1]
    assert doubt.layer not in [one.layer for one in found.opinions]
    assert len(found.opinions) == 1


@pytest.mark.parametrize("without", ["fault", "place"])
def test_what_has_no_fault_or_no_place_is_joined_by_no_opinion(without: str) -> None:
    program = read("5.0")
    found = diagnosed(program, RATE)
    (seen,) = found.findings
    (opinion,) = (finding_of(one) for one in seen.agreeing)
    assert opinion.is_opinion
    alone = [finding_of(replace(one, **{without: None})) for one in seen.observations]
    assert with_opinions([*alone, opinion], program) == (*alone, opinion)
    of_the_place = finding_of(seen.first)
    (joined,) = with_opinions([of_the_place, opinion], program)
    assert joined.agreeing == opinion.observations


def test_an_opinion_stays_on_its_line_where_a_settings_file_has_the_number(tmp_path: Path) -> None:
    text = (
        "import torch\n"
        "import yaml\n"
        "cfg = load()\n"
        "optimizer = torch.optim.SGD(torch.nn.Linear(3, 1).parameters(), lr=cfg.lr)\n"
    )
    (tmp_path / "train.py").write_text(text)
    settings = tmp_path / "train.yaml"
    settings.write_text("lr: 9.0\n")
    evidence = read_only(read_program([str(tmp_path / "train.py")]))
    opened = Opened((OpenedFile(str(settings), settings.stat().st_size, 0, "x"),), ())
    assert evidence.program is not None
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="test", request={}, what="test") as run,
    ):
        model = Scripted(lambda _: {"faults": [{**RATE, "line": 4}]})
        found = answers_of(evidence.program, model, 1, run).findings
        run.finish({})
    (placed,) = placed_in_settings(found, replace(evidence, opened=opened))
    assert placed.place is not None
    assert (placed.place.file, placed.place.line) == (PurePosixPath("train.py"), 4)


def test_opinions_are_read_back_as_they_were_stored() -> None:
    found = diagnosed(read("5.0"), RATE, BENT).to_store()
    kept = Flattening(lambda data: pytest.fail(f"{len(data)} bytes as an artefact")).flat(found)
    again = decoder(Diagnosis)(kept)
    assert again.opinions == found.opinions != ()
    assert again.findings == found.findings
    assert [len(one.agreeing) for one in again.findings] == [1]


def bent_is_better(trial: Trial) -> Outcome:
    """The activation decides, and nothing else."""
    turned = {change.hyperparameter.kind for change in trial.patch.changes}
    value = (0.9 if Kind.ACTIVATION in turned else 0.4) + (trial.seed % 7) / 1000
    return Outcome(
        OutcomeKind.FINISHED,
        steps=96,
        metrics={"test_accuracy": value},
        sources={"test_accuracy": "output"},
        cpu_seconds=0.5,
    )


def indifferent(trial: Trial) -> Outcome:
    value = 0.4 + (trial.seed % 7) / 1000
    return replace(bent_is_better(trial), metrics={"test_accuracy": value})


@pytest.mark.usefixtures("warm_python")
@pytest.mark.parametrize("trained", [bent_is_better, indifferent])
def test_an_opinion_that_a_training_confirms_is_a_finding(tmp_path: Path, trained: Any) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "train.py").write_text(SOUND.replace("RATE", "0.01"))
    program = read_program(("train.py",), folder)
    with Journal.in_memory() as journal:
        services = DiagnoseServices(
            journal,
            tmp_path / "traces",
            stdout=2,
            model=Scripted(lambda _: {"faults": [BENT]}),
            executor=lambda: ScriptedExecutor(trained),
        )
        found = diagnose(program, DiagnoseOptions(depth=Depth.NORMAL), services)

    def of_the_model(listed: tuple[Finding, ...]) -> list[InterventionResult]:
        return [one.status for one in listed if one.code == CODE]

    if trained is bent_is_better:
        assert of_the_model(found.findings) == [InterventionResult.CONFIRMED]
        assert of_the_model(found.opinions) == []
        assert found.exit_code is ExitCode.FOUND
        assert found.confirmed == 1
        assert [one.word for one in found.findings if one.code == CODE] == [Word.PROVEN]
    else:
        assert of_the_model((*found.findings, *found.low_confidence)) == []
        assert of_the_model(found.opinions) == [InterventionResult.UNDECIDED]
        assert "nothing was executed" not in found.opinions[0].message
        assert found.exit_code is ExitCode.OK
