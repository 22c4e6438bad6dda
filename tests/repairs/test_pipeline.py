"""The whole pipeline with real trainings, bad input, stopping and continuing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath
from statistics import median

import pytest

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import Inconclusive, InputError, Stopped
from reenact.journal import Journal
from reenact.llm.scripted import Scripted
from reenact.probe.crash import Crash
from reenact.probe.outcome import OutcomeKind
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import Program, read_program
from reenact.repairs.options import RepairOptions
from reenact.repairs.pipeline import repair
from reenact.repairs.prepare import RepairServices
from reenact.repairs.verdict import Decision, Repair
from reenact.report.views.repair import repair_document
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.trial import Outcome, Part, Trial
from reenact.types import ExitCode, Place, Stop

pytestmark = pytest.mark.usefixtures("warm_python")

TRAIN = """import torch
from torch import nn
from reenact.testing.toys import blobs

x, y = map(torch.from_numpy, blobs(320, spread=2.0))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
for epoch in range(12):
    for start in range(0, 256, 32):
        rows, classes = x[start : start + 32], y[start : start + 32]
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), classes).backward()
        optimizer.step()
with torch.no_grad():
    print("test accuracy:", (model(x[256:]).argmax(1) == y[256:]).float().mean().item())
"""
KERAS = """import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
from keras.layers import Dense
from reenact.testing.toys import blobs

x, y = blobs(360, spread=2.0)
model = keras.Sequential([keras.Input((8,)), Dense(16, activation="relu"), Dense(3, activation="softmax")])
model.compile(loss="sparse_categorical_crossentropy", optimizer=keras.optimizers.Adam(learning_rate=8.0),
              metrics=["accuracy"])
model.fit(x[:240], y[:240], batch_size=32, epochs=16, verbose=0)
print(model.evaluate(x[240:], y[240:], verbose=0))
"""


LOGGED = {"test_accuracy": "output"}


def program_of(tmp_path: Path, text: str) -> Program:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "train.py").write_text(text)
    return read_program(("train.py",), folder)


def repaired(
    program: Program,
    tmp_path: Path,
    options: RepairOptions,
    known: Diagnosis | None = None,
    **given: object,
) -> Repair:
    with Journal.in_memory() as journal, (tmp_path / "output").open("wb") as output:
        services = RepairServices(
            journal=journal, traces=tmp_path / "traces", stdout=output, **given
        )  # type: ignore[arg-type]
        return repair(program, options, services, known)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """A diagnosis of the training with a learning rate that is far too large. By a cold
    interpreter: what one looks at that is forked elsewhere cannot be seen.
    """
    folder = tmp_path_factory.mktemp("known")
    program = program_of(folder, TRAIN.replace("RATE", "5.0"))
    with (
        Journal.in_memory() as journal,
        (folder / "output").open("wb") as output,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.delenv("VIRTUAL_ENV", raising=False)
        services = DiagnoseServices(journal=journal, traces=folder / "traces", stdout=output)
        return diagnose(program, DiagnoseOptions(depth=Depth.QUICK), services)


def named(known: Diagnosis) -> Program:
    assert known.evidence.program is not None
    return known.evidence.program


@pytest.mark.frameworks
def test_a_keras_training_is_repaired_on_one_half_and_judged_on_the_other(
    tmp_path: Path,
) -> None:
    program = program_of(tmp_path, KERAS)
    found = repaired(program, tmp_path, RepairOptions(seeds=6, budget="10x"))
    assert found.decision.helps
    assert found.judging.search_part is Part.SEARCH
    assert found.judging.judge_part is Part.JUDGE
    verdict = found.verdict
    assert verdict is not None
    assert verdict.p_value < 0.05
    assert median(verdict.after) > median(verdict.before) + 0.2
    assert not set(verdict.seeds) & {11, 12, 13, 14, 15, 16}
    assert found.diff.startswith("--- a/train.py")
    assert (program.folder / "train.py").read_text() == KERAS
    assert found.decision.exit_code is ExitCode.OK


def good(trial: Trial) -> Outcome:
    return Outcome(
        OutcomeKind.FINISHED,
        steps=9,
        metrics={"test_accuracy": 0.97},
        sources=LOGGED,
        cpu_seconds=1.0,
        seconds=0.1,
    )


@pytest.mark.release
def test_a_program_that_crashes_behind_its_training_is_repaired_all_the_same(
    tmp_path: Path,
) -> None:
    line = "import plots_of_nobody"
    program = program_of(tmp_path, TRAIN.replace("RATE", "5.0") + f"{line}\n")
    place = Place(PurePosixPath("train.py"), 16)

    def ends_badly(trial: Trial) -> Outcome:
        accuracy = 0.97 if "lr=5.0" not in trial.patched.script() else 0.3
        crash = Crash("ModuleNotFoundError", "No module", place, line, ())
        kept = replace(good(trial), kind=OutcomeKind.NEEDS_PACKAGE, crash=crash)
        return replace(kept, metrics={"test_accuracy": accuracy})

    options = RepairOptions(seeds=6, budget="8x")
    found = repaired(program, tmp_path, options, executor=lambda: ScriptedExecutor(ends_badly))
    assert found.decision is Decision.REPAIRED
    assert any("ModuleNotFoundError at train.py:16" in note for note in found.notes)


CRASHING = """import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
from keras.layers import Dense
from reenact.testing.toys import blobs

x, y = blobs(360, spread=2.0)
model = keras.Sequential([keras.Input((8,)), Dense(16, activation="relu"), Dense(3, activation="softmax")])
model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(x, y, batch_size=32, epochs=3, verbose=0, validation_split=0.3)
"""


ONE_HOT = CRASHING.replace("categorical_cross", "sparse_categorical_cross").replace(
    "fit(x, y,", "fit(x, keras.utils.to_categorical(y),"
)


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("text", "loss"),
    [(CRASHING, '"sparse_categorical_cross'), (ONE_HOT, '"categorical_cross')],
)
def test_a_program_that_crashes_in_its_training_is_repaired_by_what_a_finding_suggests(
    tmp_path: Path, text: str, loss: str
) -> None:
    def crashes(trial: Trial) -> Outcome:
        script = trial.patched.script()
        if loss not in script or script.count("to_categorical(") != text.count("to_categorical("):
            return Outcome(OutcomeKind.CRASHED)
        return replace(
            good(trial),
            metrics={"val_accuracy": 0.6},
            sources={"val_accuracy": "keras"},
        )

    program = program_of(tmp_path, text)
    options = RepairOptions(seeds=6, budget="8x")
    found = repaired(program, tmp_path, options, executor=lambda: ScriptedExecutor(crashes))
    assert found.decision is Decision.IMPROVED
    assert loss in found.diff
    assert "val_accuracy failed -> 0.6" in found.sentence

    def never(trial: Trial) -> Outcome:
        return Outcome(OutcomeKind.CRASHED)

    with pytest.raises(Inconclusive, match="none lets it train"):
        repaired(program, tmp_path, options, executor=lambda: ScriptedExecutor(never))


@pytest.mark.release
def test_a_training_that_performs_well_is_left_alone(tmp_path: Path, known: Diagnosis) -> None:
    clean = replace(known, findings=(), low_confidence=())
    found = repaired(
        named(known),
        tmp_path,
        RepairOptions(seeds=6),
        clean,
        executor=lambda: ScriptedExecutor(good),
    )
    assert found.decision is Decision.GOOD_ALREADY
    assert found.patch == Patch(())
    assert found.diff == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "import torch\nmodel = torch.nn.Linear(2, 1)\nraise ValueError('no data')\n",
            "crashes",
        ),
        ("print('hello')\n", "no training step"),
    ],
)
def test_what_cannot_be_repaired_says_why(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(Inconclusive, match=why):
        repaired(program_of(tmp_path, text), tmp_path, RepairOptions())
    assert (tmp_path / "work" / "train.py").read_text() == text


def test_a_metric_that_is_not_logged_is_refused(tmp_path: Path, known: Diagnosis) -> None:
    with pytest.raises(InputError, match="no metric of this name"):
        repaired(named(known), tmp_path, RepairOptions(metric="val_f1"), known)


def test_a_metric_that_differs_for_one_seed_is_noted(tmp_path: Path, known: Diagnosis) -> None:
    numbers = iter(range(1000))

    def unsteady(trial: Trial) -> Outcome:
        value = 0.5 + next(numbers) * 1e-3
        return Outcome(
            OutcomeKind.FINISHED,
            steps=9,
            metrics={"test_accuracy": value},
            sources=LOGGED,
            cpu_seconds=1.0,
        )

    options = RepairOptions(budget="6x")
    found = repaired(
        named(known),
        tmp_path,
        options,
        known,
        executor=lambda: ScriptedExecutor(unsteady),
    )
    assert any("not the same twice" in note for note in found.notes)


def rate_decides(trial: Trial) -> Outcome:
    rates = [
        one.value for one in trial.patch.changes if one.hyperparameter.kind is Kind.LEARNING_RATE
    ]  # type: ignore[union-attr]
    good = bool(rates) and float(rates[0]) < 0.1
    value = (0.9 if good else 0.4) + trial.seed % 5 * 1e-3
    return Outcome(
        OutcomeKind.FINISHED,
        steps=9,
        metrics={"test_accuracy": value},
        sources=LOGGED,
        cpu_seconds=1.0,
        seconds=0.1,
    )


OWN_VALUE = 0.00421
"""A learning rate that nothing but the model proposes."""


def own_value_decides(trial: Trial) -> Outcome:
    rates = [
        one.value for one in trial.patch.changes if one.hyperparameter.kind is Kind.LEARNING_RATE
    ]  # type: ignore[union-attr]
    value = (0.9 if rates == [OWN_VALUE] else 0.4) + trial.seed % 5 * 1e-3
    return replace(rate_decides(trial), metrics={"test_accuracy": value})


def test_what_a_model_thinks_is_tried_and_never_among_what_was_found(tmp_path: Path) -> None:
    program = program_of(tmp_path, TRAIN.replace("RATE", "0.01"))
    opinion = {
        "fault": "HLR",
        "line": 7,
        "old": "0.01",
        "new": str(OWN_VALUE),
        "reason": "It is a little too fast.",
    }
    model = Scripted(lambda _: {"faults": [opinion]})
    found = repaired(
        program,
        tmp_path,
        RepairOptions(seeds=6, samples=3),
        model=model,
        executor=lambda: ScriptedExecutor(own_value_decides),
    )
    assert [call.sample for call in model.calls] == [0, 1, 2]
    assert found.decision.helps
    assert f"+optimizer = torch.optim.Adam(model.parameters(), lr={OWN_VALUE})" in found.diff
    assert not any("MD001" in reason for reason in found.why)


def test_without_a_model_nobody_tries_its_value(tmp_path: Path) -> None:
    program = program_of(tmp_path, TRAIN.replace("RATE", "0.01"))
    found = repaired(
        program,
        tmp_path,
        RepairOptions(seeds=6),
        executor=lambda: ScriptedExecutor(own_value_decides),
    )
    assert not found.decision.helps


def test_the_program_as_it_stands_is_trained_once_to_see_what_it_costs(
    tmp_path: Path, known: Diagnosis
) -> None:
    """Also where it takes so long that the limit of a training changes; once more for the same
    seed.
    """
    executor = ScriptedExecutor(lambda trial: replace(rate_decides(trial), seconds=20.0))
    options = RepairOptions(seeds=6, budget="20x")
    found = repaired(named(known), tmp_path, options, known, executor=lambda: executor)
    first = [trial for trial in executor.ran if not trial.patch and trial.seed == 11]
    assert len(first) == 2
    assert found.looks[0].patch == Patch(())
    assert found.looks[0].spent == pytest.approx(1.0)


def test_stopped_it_names_the_best_and_continues_without_training_twice(
    tmp_path: Path, known: Diagnosis
) -> None:
    program, options = named(known), RepairOptions(seeds=6)
    stop = Stop()
    first = ScriptedExecutor(rate_decides)

    def stopping(trial: Trial) -> Outcome:
        if len(first.ran) == 8:
            stop.ask()
        return rate_decides(trial)

    first.play = stopping
    again = ScriptedExecutor(rate_decides)
    with Journal.in_memory() as journal, (tmp_path / "output").open("wb") as output:
        given = {"journal": journal, "traces": tmp_path / "traces", "stdout": output}
        with pytest.raises(Stopped):
            repair(
                program,
                options,
                RepairServices(**given, stop=stop, executor=lambda: first),
                known,
            )  # type: ignore[arg-type]
        found = repair(program, options, RepairServices(**given, executor=lambda: again), known)  # type: ignore[arg-type]
    assert found.decision is Decision.IMPROVED
    finished = {trial.key for trial in first.ran[:8]}
    assert finished - {trial.key for trial in again.ran}
    keys = [trial.key for trial in again.ran]
    assert len(keys) == len(set(keys))


def test_a_repair_takes_over_what_a_finished_diagnosis_has_trained_and_says_so(
    tmp_path: Path, known: Diagnosis
) -> None:
    program, options = named(known), RepairOptions(seeds=6)
    executors = [ScriptedExecutor(rate_decides) for _ in range(4)]
    diagnosing, first, second, fresh = executors
    with Journal.in_memory() as journal, (tmp_path / "output").open("wb") as output:
        given = {"journal": journal, "traces": tmp_path / "traces", "stdout": output}
        asked = DiagnoseOptions(depth=Depth.NORMAL)
        given_first = DiagnoseServices(**given, executor=lambda: diagnosing)  # type: ignore[arg-type]
        diagnose(program, asked, given_first, known.evidence)
        found = repair(program, options, RepairServices(**given, executor=lambda: first), known)  # type: ignore[arg-type]
        source = journal.find("1").id
        again = repair(program, options, RepairServices(**given, executor=lambda: second), known)  # type: ignore[arg-type]
        from_start = RepairServices(**given, executor=lambda: fresh, fresh=True)  # type: ignore[arg-type]
        afresh = repair(program, options, from_start, known)
    assert not known.evidence.opened.blind
    assert found.reused.startswith(f"Reused from run {source} (")
    assert found.reused.endswith("--fresh runs everything again.")
    trained = {trial.content for trial in diagnosing.ran}
    assert trained
    assert not trained & {trial.content for trial in first.ran}
    assert len(second.ran) == 1, "only the training that is to be done twice"
    assert again.decision is found.decision
    assert repair_document(again, "train.py").reused == again.reused != ""
    assert afresh.reused == ""
    assert {trial.content for trial in fresh.ran} > {trial.content for trial in second.ran}


@pytest.mark.release
@pytest.mark.usefixtures("cold_python")
def test_a_repair_is_one_run_with_its_diagnosis_and_continued_it_watches_nothing_again(
    tmp_path: Path,
) -> None:
    text = 'open("ran.txt", "a").write("x")\n' + TRAIN.replace("RATE", "5.0")
    program, stop = program_of(tmp_path, text), Stop()

    def stopping(_: Trial) -> Outcome:
        stop.ask()
        return Outcome(OutcomeKind.INTERRUPTED)

    with Journal.in_memory() as journal, (tmp_path / "output").open("wb") as output:
        given = {
            "journal": journal,
            "traces": tmp_path / "runs" / "traces",
            "stdout": output,
        }
        with pytest.raises(Stopped):
            repair(
                program,
                RepairOptions(seeds=6),
                RepairServices(**given, stop=stop, executor=lambda: ScriptedExecutor(stopping)),  # type: ignore[arg-type]
            )
        watched = (program.folder / "ran.txt").read_text()
        found = repair(
            program,
            RepairOptions(seeds=6),
            RepairServices(**given, executor=lambda: ScriptedExecutor(rate_decides)),  # type: ignore[arg-type]
        )
        assert [run.pipeline for run in journal.runs()] == ["repair"]
    assert (program.folder / "ran.txt").read_text() == watched
    assert found.reused.startswith("Continued run ")


class Late(Stop):
    """Its time is up as soon as a test says so."""

    up = False

    def remaining(self) -> float | None:
        return 0.0 if self.up else 60.0


@pytest.mark.parametrize("trainings", [4, 8])
def test_without_time_for_a_verdict_it_is_not_decided(
    tmp_path: Path, known: Diagnosis, trainings: int
) -> None:
    stop = Late(60.0)
    executor = ScriptedExecutor(rate_decides)

    def slow(trial: Trial) -> Outcome:
        stop.up = len(executor.ran) >= trainings
        return rate_decides(trial)

    executor.play = slow
    found = repaired(
        named(known),
        tmp_path,
        RepairOptions(seeds=6),
        known,
        stop=stop,
        executor=lambda: executor,
    )
    assert found.decision is Decision.NOT_DECIDED
    assert found.decision.exit_code is ExitCode.INCONCLUSIVE
    assert found.sentence.startswith(
        "Not decided: the time was up before a change was verified. Give"
    )
    assert any("--max-time 60 s" in note for note in found.notes)
    assert found.to_dict()["decision"] == "not-decided"


def test_the_limit_of_one_training_bounds_every_trial(tmp_path: Path, known: Diagnosis) -> None:
    executor = ScriptedExecutor(rate_decides)
    repaired(
        named(known),
        tmp_path,
        RepairOptions(seeds=6, training_time=7.0),
        known,
        executor=lambda: executor,
    )
    limits = {trial.limits.seconds for trial in executor.ran}
    assert max(seconds or 99.0 for seconds in limits) <= 7.01


def test_an_unknown_executor_is_refused() -> None:
    with pytest.raises(InputError, match="executor='nowhere'"):
        RepairOptions(executor="nowhere")


def test_too_few_seeds_are_refused() -> None:
    with pytest.raises(InputError, match="at least 6"):
        RepairOptions(seeds=5)


@pytest.mark.parametrize("budget", ["-3", "many", "0", "5x5"])
def test_a_senseless_budget_is_refused(tmp_path: Path, budget: str) -> None:
    with pytest.raises(InputError, match="budget"):
        repaired(program_of(tmp_path, TRAIN), tmp_path, RepairOptions(budget=budget))
