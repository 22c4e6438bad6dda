"""Programs that never train reproduce nothing; honest ones do, and the controls say what they
gave.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from reenact.codegen.project import Project
from reenact.journal import Journal
from reenact.paper.develop.development import Development
from reenact.paper.measure.control import ControlStatus, NumberControl, Source
from reenact.paper.measure.control_runs import (
    DRY,
    FULL,
    OTHER_SEEDS,
    PLAIN,
    ControlRun,
    Controls,
    Observed,
    are_far_worse,
    as_good,
    control_of,
    judged_by,
    other_seed,
)
from reenact.paper.measure.gap import Match, compare
from reenact.paper.measure.measure import Measured, measure
from reenact.paper.measure.runs import FullRun
from reenact.paper.measure.verdict import Verdict, verdict_of
from tests.paper.measure import programs

MATCH = {"paper/match": {"matches": [{"claim": "C1", "metric": "mse"}]}}


def measured(
    text: str, claim: Any, context: Any, journal: Journal, seeds: int = 1, **more: Any
) -> Measured:
    """A program of the contract, measured in boxes."""
    project = Project({**programs.CONTRACT, "train.py": text, **more})
    made = Development(project, (), 0, True, (), ())
    with journal.run(pipeline="paper", request={}, argv=(), what="x") as run:
        return measure([claim], (), made, context(MATCH, seeds=seeds, repair=False), run)


def error_of(claim: Any, value: float = 0.009, spread: float | None = 0.001) -> Any:
    return claim(
        value=value,
        unit="",
        metric="mean squared error",
        higher_is_better=False,
        spread=spread,
        quote=f"{value}",
    )


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", programs.NEVER_TRAINED)
def test_a_program_that_never_trains_reproduces_nothing(
    name: str, claim: Any, context: Any, journal: Journal
) -> None:
    value = 0.0093 if "two digits" in name or "unused" in name else 0.009
    more: dict[str, Any] = {}
    if "evaluate.py" in name:
        more = {"evaluate.py": 'def evaluate(model):\n    return {"mse": 0.0094}\n'}
    text = programs.never_trains(programs.NEVER_TRAINED[name])
    found = measured(text, error_of(claim, value), context, journal, **more)
    assert found.judgement.verdict is Verdict.INCONCLUSIVE
    control = found.comparisons[0].control
    if control is not None:
        assert control.status is ControlStatus.IMPOSSIBLE
        assert "no step of an optimizer" in found.judgement.reason


def test_an_honest_program_without_torch_is_controlled_by_its_update(
    claim: Any, context: Any, journal: Journal
) -> None:
    found = measured(programs.LINE, error_of(claim, 0.0094), context, journal)
    (one,) = found.comparisons
    assert one.control is not None
    assert one.control.status is ControlStatus.PASSED
    assert one.control.source is Source.AS_REPORTED
    assert one.control.untrained is not None
    assert one.control.trained is not None
    assert one.control.untrained > one.control.trained
    assert "without updates" in one.control.sentence("mse")
    assert found.judgement.verdict is Verdict.REPRODUCED


def test_a_number_that_stays_when_update_is_taken_out_is_not_measured(
    claim: Any, context: Any, journal: Journal
) -> None:
    text = programs.LINE.replace(
        "json.dump(evaluate(model)", 'json.dump({"mse": math.sqrt(0.000081)}'
    )
    found = measured(text, error_of(claim), context, journal)
    (one,) = found.comparisons
    assert (one.measured, one.gap) == (None, 1.0)
    assert one.control is not None
    assert one.control.status is ControlStatus.SAME
    assert one.control.at == FULL, "no difference at the dry run's scale is looked at once more"
    assert found.judgement.verdict is Verdict.INCONCLUSIVE
    assert "as good without updates" in found.judgement.reason


def test_a_number_that_follows_any_update_is_caught_by_permuted_labels(
    claim: Any, context: Any, journal: Journal
) -> None:
    text = programs.LINE.replace(
        "json.dump(evaluate(model)",
        'json.dump({"mse": 0.0090001 if model["a"] else 1.0}',
    )
    found = measured(text, error_of(claim), context, journal)
    (one,) = found.comparisons
    assert one.control is not None
    assert one.control.status is ControlStatus.PERMUTED
    assert one.measured is None


BY_SEED = """{0: 0.002, 1: 0.0021, 2: 0.0022}.get(seed, evaluate(model)["mse"]) if model["a"] > 1 else 1.0"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("seeds", [2, 3])
def test_numbers_written_down_for_some_seeds_are_caught_by_another_seed(
    claim: Any, context: Any, journal: Journal, seeds: int
) -> None:
    """A table that is only read once something was learned, so that the other controls see a
    fall.
    """
    table = programs.LINE.replace("json.dump(evaluate(model)", f'json.dump({{"mse": {BY_SEED}}}')
    found = measured(table, error_of(claim, 0.0021), context, journal, seeds=seeds)
    (one,) = found.comparisons
    assert one.control is not None
    assert one.control.status is ControlStatus.SEED
    assert one.control.other_seed == pytest.approx(0.0085, rel=0.3)
    assert one.measured is None


@pytest.mark.parametrize(
    ("by_seed", "numbers", "far"),
    [
        ((0.90, 0.91, 0.92), [0.80], True),
        ((0.90, 0.91, 0.92), [0.87], False),
        ((0.90, 0.91, 0.92), [0.99], False),
        ((0.70, 0.91, 0.99), [0.50], False),
        ((0.91, 0.92), [0.80, 0.81], True),
        ((0.91, 0.92), [0.60, 0.85], False),
        ((0.91,), [0.50], False),
    ],
    ids=[
        "worse",
        "within the tolerance",
        "better",
        "noisy",
        "two and two",
        "noisy others",
        "one and one",
    ],
)
def test_other_seeds_are_surely_worse(
    claim: Any, by_seed: tuple[float, ...], numbers: list[float], far: bool
) -> None:
    runs = [
        FullRun(seed, True, {"a": value}, "", 1.0, 1.0, 1.0, "")
        for seed, value in enumerate(by_seed)
    ]
    (one,) = compare([claim(value=0.91, unit="")], runs, [Match(claim="C1", metric="a")])
    assert are_far_worse(one, numbers) is far


def test_a_metric_that_the_seed_of_the_control_did_not_leave(
    claim: Any, context: Any, journal: Journal
) -> None:
    """The first run leaves none when it is not observed, and one when it is."""
    text = programs.LINE.replace(
        "json.dump(evaluate(model)",
        'import sys\nname = "mse" if seed or "observe" in str(sys.orig_argv) else "other"\n'
        'json.dump({name: evaluate(model)["mse"]}',
    )
    found = measured(text, error_of(claim, 0.0094), context, journal, seeds=2)
    (one,) = found.comparisons
    assert one.control is not None
    assert one.control.status is ControlStatus.IMPOSSIBLE
    assert found.judgement.verdict is Verdict.INCONCLUSIVE


def test_a_claim_of_an_untrained_method_needs_no_control(
    claim: Any, context: Any, journal: Journal
) -> None:
    text = programs.never_trains(
        'json.dump(evaluate(build_model(seed)), open("metrics.json", "w"))'
    )
    value = evaluated_untrained()
    stated = claim(
        value=value,
        unit="",
        metric="mean squared error",
        higher_is_better=False,
        method="Untrained line",
        quote=f"{value}",
    )
    found = measured(text, stated, context, journal)
    assert found.judgement.verdict is Verdict.REPRODUCED
    assert found.comparisons[0].control == NumberControl(
        ControlStatus.NOT_NEEDED, Source.AS_REPORTED
    )


def evaluated_untrained() -> float:
    names: dict[str, Any] = {"SIZE": 16}
    exec(programs.CONTRACT["data.py"].replace("from config import SIZE", ""), names)
    labels = names["sample_batch"](99)["y"]
    return sum(label * label for label in labels) / len(labels)


def test_a_program_that_ends_itself_leaves_no_control(
    claim: Any, context: Any, journal: Journal
) -> None:
    dumped = 'json.dump(evaluate(model), open("metrics.json", "w"))'
    written = 'Path("metrics.json").write_text(json.dumps(evaluate(model)))'
    text = programs.LINE.replace(dumped, f"{written}\nos._exit(0)")
    found = measured(text, error_of(claim, 0.0094), context, journal)
    assert found.judgement.verdict is Verdict.INCONCLUSIVE
    assert "ended before it could be observed" in found.judgement.reason


def observed_in_a_child(
    folder: Path, text: str, mode: str, arguments: list[str]
) -> tuple[dict[str, float], Any]:
    """The program under our driver, in a fork of this process, which has torch already."""
    import torch  # noqa: F401

    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(text)
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            if mode:
                sys.path.insert(0, str(files("reenact.paper.measure.inside")))
                import frameworks
                import observe
                import observer

                watching = observer.Observer(mode)
                frameworks.observe_torch(watching)
                code = observe.run_program(arguments)
                Path("report.json").write_text(json.dumps(observe._finite(watching.report())))
            else:
                import runpy

                sys.argv[:] = ["train.py", *arguments]
                runpy.run_path("train.py", run_name="__main__")
                code = 0
            os._exit(code)
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            os._exit(9)
    _, status = os.waitpid(child, 0)
    assert status == 0
    metrics = json.loads((folder / "metrics.json").read_text())
    report = json.loads((folder / "report.json").read_text()) if mode else None
    return metrics, report


@dataclass
class InAChild(Controls):
    """Control runs without a box: for many programs that need torch, which takes long to import."""

    folder: Path = Path()
    ran: Mapping[str, int] | None = None

    def _run(self, mode: str, at: str) -> ControlRun:
        seed = other_seed(self.project, mode) if mode in OTHER_SEEDS else self.seed
        arguments = ["--seed", str(seed), *(["--dry-run"] if at == DRY else [])]
        text = self.project.files["train.py"]
        metrics, report = observed_in_a_child(self.folder / f"{mode}-{at}", text, mode, arguments)
        return ControlRun(metrics, Observed.model_validate(report))


def judged(text: str, stated: Any, context: Any, tmp_path: Path) -> tuple[NumberControl, Verdict]:
    """The control of a torch program's one number, and the verdict with it."""
    metric = "mse" if "mean" in stated.metric else "accuracy"
    metrics, _ = observed_in_a_child(tmp_path / "alone", text, "", ["--seed", "0"])
    run = FullRun(0, True, metrics, "", 1.0, 1.0, 1.0, "")
    (one,) = compare([stated], [run], [Match(claim="C1", metric=metric)])
    controls = InAChild(Project({"train.py": text}), 0, context(), None, folder=tmp_path)  # type: ignore[arg-type]
    control = control_of(one, 1.0, controls)
    return control, verdict_of([judged_by(one, control)], runs=True).verdict


def share(claim: Any, value: float) -> Any:
    return claim(value=value, unit="", metric="test accuracy", quote=f"{value}")


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("text", "status"),
    [
        (programs.HONEST_CLASSIFIER, Source.RECOMPUTED),
        (programs.IN_BATCHES, Source.RECOMPUTED),
        (programs.BY_NUMPY, Source.RECOMPUTED),
    ],
    ids=["at once", "in batches", "by numpy"],
)
def test_an_honest_classifier_is_recomputed(
    text: str, status: Source, claim: Any, context: Any, tmp_path: Path
) -> None:
    control, verdict = judged(text, share(claim, 0.98), context, tmp_path)
    assert (control.status, control.source) == (ControlStatus.PASSED, status)
    assert control.constant == pytest.approx(0.5, abs=0.06), (
        "the majority class of the held-out labels"
    )
    assert verdict is Verdict.REPRODUCED


@pytest.mark.release
def test_an_honest_regressor_is_recomputed(claim: Any, context: Any, tmp_path: Path) -> None:
    metrics, _ = observed_in_a_child(tmp_path / "first", programs.REGRESSOR, "", ["--seed", "0"])
    stated = error_of(claim, metrics["mse"], None)
    control, verdict = judged(programs.REGRESSOR, stated, context, tmp_path)
    assert (control.status, control.source) == (ControlStatus.PASSED, Source.RECOMPUTED)
    assert control.constant is not None
    assert control.constant > 5, "the variance of the labels"
    assert verdict is Verdict.REPRODUCED


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", programs.KNOWING)
def test_a_program_that_knows_the_controls_reproduces_nothing(
    name: str, claim: Any, context: Any, tmp_path: Path
) -> None:
    control, verdict = judged(programs.KNOWING[name], share(claim, 0.97), context, tmp_path)
    assert verdict is not Verdict.REPRODUCED
    assert control.refused or control.is_only_reported


@pytest.mark.release
def test_a_number_at_chance_shows_nothing(claim: Any, context: Any, tmp_path: Path) -> None:
    """52 % where the majority class has 50 % agree, and nothing was learned that this tells."""
    text = programs.HONEST_CLASSIFIER.replace("x[:, 0] * x[:, 1] > 0", "torch.rand(400) < 0.9")
    metrics, _ = observed_in_a_child(tmp_path / "first", text, "", ["--seed", "0"])
    control, verdict = judged(text, share(claim, metrics["accuracy"]), context, tmp_path)
    assert verdict is not Verdict.REPRODUCED
    assert control.constant_is_as_good or control.refused


def test_as_good_is_a_matter_of_direction_and_tolerance(claim: Any) -> None:
    larger = claim(value=0.5, unit="")
    smaller = claim(value=0.5, unit="", higher_is_better=False)
    for control, trained, stated, expected in (
        (0.90, 0.5, larger, True),
        (0.476, 0.5, larger, True),
        (0.474, 0.5, larger, False),
        (0.10, 0.5, smaller, True),
        (0.524, 0.5, smaller, True),
        (0.526, 0.5, smaller, False),
    ):
        assert as_good(stated, control, trained, None) is expected
    assert as_good(larger, 0.45, 0.5, 0.06), "within the spread over seeds"
    assert not as_good(larger, 0.2, 0.5, 0.4), "a spread as wide as the number says nothing"


def test_a_run_is_made_once(claim: Any, context: Any, journal: Journal) -> None:
    project = Project({**programs.CONTRACT, "train.py": programs.LINE})
    services = context({})
    with journal.run(pipeline="paper", request={}, argv=(), what="x") as run:
        controls = Controls(project, 0, services, run)
        assert controls.get(PLAIN, DRY) is controls.get(PLAIN, DRY)
    steps = [one.path for one in journal.steps(journal.find("last")) if "control" in one.path]
    assert len([path for path in steps if path.endswith("plain-dry")]) == 1
