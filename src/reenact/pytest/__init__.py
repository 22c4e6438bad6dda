"""Assertions for the tests of your own training code: `from reenact.pytest import assert_learns`.

assert_learns        a model can overfit one batch, and looks at its inputs to do so
assert_no_findings   the detectors have nothing to say of a recorded or a running watch

They are plain functions: nothing is registered with pytest, and unittest may use them as well.

The detectors judge, the message is what a reader of a failing test needs.

one_batch   the experiment, and how Keras and torch do it
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reenact.api.training import diagnose_trace
from reenact.diagnosis.judgement import Judgement, accusing_symptoms
from reenact.faults.detector import Needs, run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.observation import Observation
from reenact.faults.registry import chosen, detector
from reenact.probe.read import read_trace
from reenact.probe.trace import Experiments, OneBatch, Trace
from reenact.pytest.one_batch import RATES, Tried, learner_for, overfit

__all__ = ["assert_learns", "assert_no_findings"]

STEPS = 100
NAMED = 6


def assert_learns(
    model: Any,
    batch: Any,
    *,
    loss: Any = None,
    steps: int = STEPS,
    rates: Sequence[float] = RATES,
) -> None:
    """Fail unless a copy of the model overfits the batch and looks at its inputs to do so.

    Fails too when a layer that is called gets no gradient, and when softmax or sigmoid is followed
    by a loss that expects logits. `batch` is a pair of inputs and targets, or a dict as Hugging
    Face models take it; for a module with a `training_step`, whatever that takes. `loss` takes
    output and targets; without one it is the model's own, or one that fits the targets. The model
    and all random numbers stay as they were.
    """
    __tracebackhide__ = True
    lines = _objection(
        overfit(
            learner_for(model, batch, loss),
            steps,
            rates,
        )
    )
    if lines:
        raise AssertionError(
            "\n".join(
                [
                    f"{type(model).__name__} does not learn one batch.",
                    *lines,
                ]
            )
        )


def assert_no_findings(
    trace: Any,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    threshold: float | str = "likely",
) -> None:
    """Fail when a detector finds a fault in a training, sees a grave symptom, or has no training to
    judge.

    `trace` is a folder that `reenact watch` wrote, a Trace, or a `reenact.watch` block that has
    ended. `select` and `ignore` name faults and detectors by code, prefix, name or family.
    """
    __tracebackhide__ = True
    found = diagnose_trace(
        _trace(trace),
        select=select,
        ignore=ignore,
        threshold=threshold,
    )
    if found.judgement is Judgement.UNJUDGED:
        raise AssertionError(found.sentence)
    symptoms = accusing_symptoms(found.judgement, found.symptoms, found.threshold)
    findings = (*found.findings, *symptoms)
    if findings:
        lines = [line for one in findings for line in _described(one.first)]
        count = f"{len(findings)} finding{'s' if len(findings) > 1 else ''}"
        raise AssertionError("\n".join([f"{count} in this training.", *lines]))


def _objection(tried: Tried) -> list[str]:
    """Why the experiment did not go well, in lines; empty when it did."""
    best = tried.best
    wrong = next(
        (step for step, value in enumerate(best.losses) if not math.isfinite(value)),
        None,
    )
    if wrong is not None:
        lines = [f"  saw   the loss is not a number before step {wrong + 1}, whatever the rate"]
    else:
        seen = OneBatch(
            len(best.losses),
            tuple(best.losses),
            best.accuracy,
            tried.zeroed,
        )
        evidence = Evidence(experiments=Experiments(one_batch=seen))
        of_experiments = [one for one in chosen() if one.needs == Needs.EXPERIMENTS]
        findings = run_detectors(of_experiments, evidence)
        lines = [line for finding in findings for line in _described(finding.first)]
    if lines:
        lines.append(
            f"  tried Adam at {', '.join(f'{rate:g}' for rate in tried.rates)}; the best is shown"
        )
    if best.bent:
        saw = (
            f"the model ends in {best.bent}, and the loss expects logits (or give loss=... that "
            f"does not)"
        )
        lines += _seen("RE002", saw)
    if best.detached:
        lines += _seen(
            "RE013",
            f"no gradient reaches {_listed(best.detached)}, whose layers are called",
        )
    elif lines and best.untouched:
        lines.append(f"  note  no gradient reaches {_listed(best.untouched)}")
    return lines


def _listed(names: Sequence[str]) -> str:
    more = ""
    if len(names) > NAMED:
        more = f" and {len(names) - NAMED} more"
    return ", ".join(names[:NAMED]) + more


def _seen(code: str, saw: str) -> list[str]:
    """What the experiment shows by itself, under the detector that says the same of a training."""
    found = detector(code)
    return _lines(
        f"{code} {found.name}",
        saw,
        found.why,
        code,
    )


def _described(observation: Observation) -> list[str]:
    where = ""
    if observation.place is not None:
        where = f"{observation.place}  "
    return _lines(
        f"{where}{observation.code} {observation.name}",
        observation.saw,
        observation.why,
        observation.code,
    )


def _lines(
    title: str,
    saw: str,
    why: str,
    code: str,
) -> list[str]:
    return [
        title,
        f"  saw   {saw}",
        f"  why   {why}",
        f"  next  reenact explain {code}",
    ]


def _trace(given: Any) -> Trace:
    if isinstance(given, str | Path):
        return read_trace(Path(given))
    found: Trace | None = given if isinstance(given, Trace) else given.trace
    if found is None or not found.step_count:
        raise AssertionError(
            f"Nothing was trained while somebody watched. Received: {type(given).__name__}."
        )
    return found
