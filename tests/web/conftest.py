"""Journals with one run of each pipeline, stored as they store them, and a browser that is let
in.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import click
import numpy as np
import pytest
from starlette.testclient import TestClient

from reenact.asking import ask
from reenact.bug.classify import RunOutcome, SeedRun
from reenact.bug.report import BugReport
from reenact.bug.reproduction import Attempt, Minimised, Reproduction, Stage
from reenact.bug.reproduction import Verdict as BugVerdict
from reenact.bug.script_runner import Frame, RunObservation
from reenact.bug.symptom import Symptom
from reenact.codegen.project import Problem
from reenact.diagnosis.diagnosis import (
    Diagnosis,
    suspected_source,
)
from reenact.diagnosis.options import Depth
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import finding_of
from reenact.faults.observation import Observation, Severity
from reenact.faults.tried import ChangeEffect
from reenact.jobs import Jobs
from reenact.journal import Journal, Kind
from reenact.llm.ask import Image, Prompt, Text
from reenact.llm.scripted import Scripted
from reenact.program.hyperparameter import Kind as HyperparameterKind
from reenact.program.patch import Patch
from reenact.program.program import program_from_text, read_program
from reenact.repairs.alternatives import NeutralityGraph, Node, NodeKind
from reenact.repairs.minimise import ReductionStep
from reenact.repairs.search_context import Evaluation
from reenact.repairs.verdict import BeforeAfter, Decision, Judging, Repair, Verdict
from reenact.sandbox.box import Ending
from reenact.testing.strategy import PROGRAM, set_to
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure
from reenact.trials.statistics import compare
from reenact.trials.trial import Part, Trial
from reenact.types import ExitCode, Place
from reenact.web.serve import make_app
from reenact.web.state import AppState, CommandForm

PORT = 8123
NASTY = "<script>alert(1)</script>"
SOURCE = """import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=10.0)
"""
BEFORE, AFTER = (0.3, 0.31, 0.29, 0.3, 0.32, 0.3), (0.9, 0.91, 0.92, 0.9, 0.89, 0.93)
PATCH = Patch((set_to(HyperparameterKind.LEARNING_RATE, 0.001),))
MEASURE = Measure("test_accuracy")
STEPS, WEIGHT = 30, "0.weight"
PROGRAM_TEXT = """import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 2)).sum().backward()
    optimizer.step()
"""
SCRIPT = "from acme import Meter\n\nMeter().mean()\n"


def a_diagnosis() -> Diagnosis:
    place = Place(PurePosixPath("train.py"), 5, 52, 5, 56)
    seen = Observation(
        "UM005",
        "learning-rate-high",
        "umlaut",
        FaultType.HLR,
        Severity.ERROR,
        f"rate 10 {NASTY}",
        "Steps larger than the weights cannot settle.",
        0.9,
        place,
        step=12,
    )
    tried = ChangeEffect(
        patch=PATCH,
        metric=MEASURE.name,
        larger_is_better=MEASURE.larger_is_better,
        before=BEFORE,
        after=AFTER,
        p_value=0.016,
        confirmed=True,
        cpu_seconds=9.0,
    )
    finding = finding_of(seen).confirmed(tried)
    return Diagnosis(
        Depth.NORMAL,
        Evidence(program_from_text(SOURCE)),
        (finding,),
        (),
        (),
        0.5,
        TrainingUsage(3.0, 12),
        MEASURE,
        ("one batch was not tried",),
    )


def a_repair() -> Repair:
    verdict = Verdict(
        PATCH,
        tuple(range(6)),
        BEFORE,
        AFTER,
        compare(BEFORE, AFTER),
        0.016,
        Decision.REPAIRED,
    )
    return Repair(
        strategy="guided",
        decision=Decision.REPAIRED,
        patch=PATCH,
        diff=PATCH.diff(PROGRAM),
        judging=Judging(MEASURE, MEASURE, Part.SEARCH, Part.JUDGE, "halves"),
        verdicts=(verdict,),
        looks=(
            Evaluation(Patch(()), 0.3, 1, 1.0, 1.0),
            Evaluation(PATCH, 0.9, 1, 1.0, 2.0),
            Evaluation(PATCH, 0.8, 1, 0.3, 1.5),
            Evaluation(PATCH, float("-inf"), 1, 1.0, 3.0),
        ),
        cuts=(ReductionStep(PATCH, 0.98, True, 5),),
        cost=TrainingUsage(12.0, 9, 8.5, 1.0, 12),
        why=("UM005 learning-rate-high: learning rate 0.5",),
        curves={"loss": BeforeAfter(((0, 2.0), (5, float("nan"))), ((0, 2.0), (5, 0.3)))},
        notes=("a thing to know",),
    )


def a_bug() -> Reproduction:
    symptom = Symptom.model_validate(
        {
            "kind": "explicit",
            "sign": "crash",
            "fault": "numeric",
            "words": "Meter.mean raises.",
            "explicit": {
                "exception": "ZeroDivisionError",
                "message": "division by zero",
            },
        }
    )
    frames = (
        Frame("script", "script.py", 3, "<module>", "<module>"),
        Frame("project", "acme/losses.py", 32, "mean", "Meter.mean"),
    )
    observed = RunObservation(
        Ending.EXIT,
        ended="raised",
        classes=("ZeroDivisionError", "ArithmeticError"),
        message="division by zero",
        frames=frames,
        output=f"printed {NASTY}",
        versions={"torch": "2.13"},
    )
    shown = SeedRun(0, observed, RunOutcome.SYMPTOM, "ZeroDivisionError: division by zero")
    passed = SeedRun(
        0,
        RunObservation(Ending.OK, ended="returned"),
        RunOutcome.NOTHING,
        "It ran through.",
    )
    refused = Attempt(
        0,
        0,
        "import nothing\n",
        Stage.STATIC,
        (Problem(Stage.STATIC, "No nothing.", line=1),),
    )
    shows = Attempt(0, 1, SCRIPT, None, runs=(shown,), fixed_runs=(passed,))
    return Reproduction(
        title="Meter crashes",
        source="report.md",
        repository="acme",
        commit="a" * 40,
        fixed="b" * 40,
        verdict=BugVerdict.REPRODUCED,
        reason="it shows in 1 of 1 runs",
        symptom=symptom,
        report=BugReport(
            title="Meter crashes", observed="It fails.", expected="0.0", steps=["do it"]
        ),
        attempts=(refused, shows),
        contexts=("acme: all there is",),
        packages=("torch==2.13",),
        minimised=Minimised(SCRIPT, 9, 3, 7),
        repro=SCRIPT,
    )


def a_graph() -> NeutralityGraph:
    nodes = (
        Node(Patch(()), -1, (0.3,), NodeKind.ROOT),
        Node(PATCH, 0, (0.9,), NodeKind.BETTER),
        Node(PATCH, 0, (0.4,), NodeKind.NEUTRAL),
        Node(PATCH, 2, (0.8,), NodeKind.AS_GOOD),
    )
    return NeutralityGraph(nodes, "test_accuracy", True, 5, "the budget was spent")


def put_trace(folder: Path) -> None:
    """A training of one layer whose gradient ends as infinity."""
    folder.mkdir(parents=True)
    weight = {"name": WEIGHT, "shape": [1, 4], "trainable": True, "in_optimizer": True}
    columns = {
        "steps": ["step", "time", "epoch", "loss", "sampled"],
        "parameters": ["step", "parameter", "grad_norm", "update_ratio"],
        "layers": ["step", "layer", "phase", "dead_unit_share"],
    }
    header = {
        "schema": 1,
        "columns": columns,
        "started": 0.0,
        "argv": [],
        "cwd": "/",
        "python": "3.11",
        "preset": "normal",
        "seed": None,
        "frameworks": {},
        "layers": ["0"],
        "parameters": [weight],
        "missing": [],
    }
    layer = {
        "name": "0",
        "type": "Linear",
        "place": None,
        "input_shapes": [[8, 4]],
        "output_shape": [8, 1],
        "activation": None,
        "settings": {},
        "calls": 1,
        "weights": [
            {
                "name": "weight",
                "path": WEIGHT,
                "shape": [1, 4],
                "trainable": True,
                "mean": 0.0,
                "std": 1.0,
                "minimum": -1.0,
                "maximum": 1.0,
            }
        ],
    }
    graph = {
        "framework": "torch",
        "model": "Net",
        "layers": [layer],
        "parameters": 4,
        "batch_size": 8,
    }
    graph["trainable_parameters"] = 4
    numbers = np.arange(STEPS, dtype=float)
    grads = np.where(numbers < STEPS - 1, 1.0 / (1 + numbers), np.inf)
    tables = {
        "steps": np.stack(
            [numbers, numbers, numbers * 0, 5.0 / (1 + numbers), numbers * 0 + 1],
            axis=1,
        ),
        "parameters": np.stack([numbers, numbers * 0, grads, grads / 100], axis=1),
        "layers": np.stack([numbers, numbers * 0, numbers * 0, numbers / STEPS], axis=1),
    }
    metric = ["accuracy", 0.8, 29, 0, 1.0, "user"]
    notes = json.dumps({"metrics": [metric], "events": [], "spent": 0.0}).encode()
    chunk = io.BytesIO()
    np.savez(chunk, notes=np.frombuffer(notes, dtype=np.uint8), **tables)
    (folder / "chunk-000001.npz").write_bytes(chunk.getvalue())
    (folder / "header.json").write_text(json.dumps(header))
    (folder / "graph.json").write_text(json.dumps(graph))
    (folder / "ending.json").write_text(json.dumps({"seconds": 1.0, "error": None}))


RESULTS: dict[str, Callable[[], Any]] = {
    "diagnose": a_diagnosis,
    "repair": a_repair,
    "bug": a_bug,
    "alternatives": a_graph,
}


def write_journal(folder: Path) -> dict[str, str]:
    """One run of each pipeline; pipeline to id."""
    from pydantic import BaseModel

    class Opinion(BaseModel):
        script: str
        why: str

    ids = {}
    with Journal.open(folder) as journal:
        for pipeline, make in RESULTS.items():
            found = make()
            argv = ("reenact", pipeline, "train.py")
            with journal.run(
                pipeline=pipeline,
                request={"of": pipeline},
                what=f"train.py {NASTY}",
                argv=argv,
            ) as run:
                ids[pipeline] = run.record.id
                run.note(
                    "result",
                    found.to_store() if isinstance(found, Diagnosis) else found,
                )
                if isinstance(found, Diagnosis):
                    trace = folder / "traces" / "train-1"
                    put_trace(trace)
                    run.step(
                        "watch",
                        lambda place=str(trace): {"folder": place},
                        kind=Kind.TRIAL,
                    )
                    run.note("source", suspected_source(found))
                run.finish({"verdict": f"{pipeline} is done"}, ExitCode.FOUND)
        with journal.run(pipeline="rehearsal", request={}, what="plain") as run:
            ids["rehearsal"] = run.record.id
            prompt = Prompt(
                "rehearsal/ask",
                1,
                "You are asked.",
                (Text(f"Is it {NASTY}?"), Image(b"png" * 700, "image/png", "Figure 2")),
            )
            model = Scripted(
                {"rehearsal/ask": {"script": f"{NASTY}\nprint(1)\n", "why": "because"}}
            )
            ask(run, model, "ask", prompt, Opinion)
            parts = {f"part-{number}": {"nr": number} for number in range(130)}
            run.many(parts, lambda names: [{name: {"loss": 0.5} for name in names}])
            run.finish({"verdict": "fine"})
        ids["failed"] = _failed(journal)
    return ids


def _failed(journal: Journal) -> str:
    with (
        suppress(RuntimeError),
        journal.run(pipeline="repair", request={"of": "no"}, what="x") as run,
    ):
        raise RuntimeError("no luck")
    return run.record.id


@pytest.fixture(scope="session")
def write_trace() -> Callable[[Path], None]:
    """`write_trace(folder)`: a trace there, as the probe leaves it."""
    return put_trace


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("runs")
    return folder, write_journal(folder)


@pytest.fixture
def runs_dir(stored: tuple[Path, dict[str, str]]) -> Path:
    return stored[0]


@pytest.fixture
def ids(stored: tuple[Path, dict[str, str]]) -> dict[str, str]:
    return stored[1]


FORMS = (
    CommandForm(
        "runs",
        click.Command(
            "runs",
            help="List runs.",
            params=[
                click.Option(
                    ["--status"],
                    type=click.Choice(["running", "failed"]),
                    help="Only these.",
                ),
                click.Option(["--search"], multiple=True),
                click.Argument(["what"]),
            ],
        ),
        "list",
        ("--status",),
    ),
)


@pytest.fixture
def make_state(tmp_path: Path) -> Callable[[Path], AppState]:
    return lambda folder: AppState(folder, Jobs(folder, tmp_path), FORMS)


@pytest.fixture
def enter() -> Callable[[AppState], TestClient]:
    def entered(state: AppState) -> TestClient:
        client = TestClient(make_app(state, PORT), base_url=f"http://127.0.0.1:{PORT}")
        assert client.get(f"/enter?token={state.key.token}").status_code == 200
        return client

    return entered


@pytest.fixture
def browser(
    runs_dir: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> TestClient:
    """Somebody who came by the printed address."""
    return enter(make_state(runs_dir))


@pytest.fixture
def repaired(tmp_path: Path) -> tuple[str, str]:
    """The ids of a diagnosis with findings and of a repair that held, of one program in this
    folder.
    """
    (tmp_path / "train.py").write_text(PROGRAM_TEXT)
    program = read_program(("train.py", "--lr", "3"), tmp_path)
    patch = Patch((set_to(HyperparameterKind.LEARNING_RATE, 0.125, program),))
    measure, before, after = Measure("accuracy"), (0.1,) * 6, (0.9,) * 6
    verdict = Verdict(
        patch,
        tuple(range(6)),
        before,
        after,
        compare(before, after),
        0.01,
        Decision.REPAIRED,
    )
    result = Repair(
        strategy="guided",
        decision=Decision.REPAIRED,
        patch=patch,
        diff=patch.diff(program),
        judging=Judging(measure, measure, Part.WHOLE, Part.WHOLE, ""),
        verdicts=(verdict,),
        looks=(),
        cuts=(),
        cost=TrainingUsage(1.0),
    )
    request = Trial(program).identity
    with Journal.open(tmp_path / "runs") as journal:
        with journal.run(pipeline="diagnose", request=request, what="train.py") as first:
            first.finish(
                {
                    "sentence": "1 finding.",
                    "curve": [4.0, 1.0],
                    "metric": "accuracy 0.1",
                },
                ExitCode.FOUND,
            )
        with journal.run(pipeline="repair", request=request, what="train.py") as second:
            second.note("result", result)
            second.finish({"decision": "repaired", "metric": result.in_numbers})
    return first.record.id, second.record.id
