"""autotrainer: five problems, each with its remedies in a fixed order (Zhang et al. 2021).

A problem is seen in the trace of a training; its remedies are tried one after another, each a
stated number of times, until it is gone and the training is no worse. What helped stays while the
next problem is looked for. As published, a remedy continues from the weights that the training had
reached; that is done where Keras trains. The variant from scratch starts over. Tables: order and
tries of the "balance" strategy of the released tool. Not there: ThresholdedReLU, which Keras 3 no
longer has.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.registry import chosen
from reenact.program.edit.change import Change, Insert
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch, change_for
from reenact.repairs.search_context import NOTHING, SearchContext
from reenact.trials.reading import read_kept
from reenact.trials.trial import Weights
from reenact.types import JsonValue

ORDER = ("AT002", "AT003", "AT001", "AT004", "AT005")
"""Which problem is treated first when a training shows several: NaN and explosion, dying ReLU,
vanishing, oscillation, slowness.
"""
REMEDIES: dict[str, tuple[tuple[str, int], ...]] = {
    "AT001": (("selu", 1), ("relu", 1), ("batch-norm", 1)),
    "AT002": (
        ("selu", 1),
        ("relu", 1),
        ("clip", 2),
        ("tanh", 1),
        ("batch-norm", 1),
    ),
    "AT003": (
        ("selu", 1),
        ("batch-norm", 1),
        ("initializer", 3),
        ("leaky", 2),
    ),
    "AT004": (
        ("adam", 1),
        ("smaller-rate", 3),
        ("plateau", 1),
        ("batch", 4),
        ("momentum", 3),
        ("noise", 1),
        ("initializer", 3),
    ),
    "AT005": (("optimizer", 3), ("larger-rate", 3), ("initializer", 3)),
}
WITH = {
    "selu": "lecun_uniform",
    "relu": "he_uniform",
    "tanh": "he_uniform",
}
"""The initialiser that comes with an activation."""
INITIALIZERS = (
    "he_uniform",
    "he_normal",
    "lecun_uniform",
    "lecun_normal",
    "glorot_uniform",
    "glorot_normal",
)
OPTIMIZERS = ("sgd", "adam", "nadam", "adamax", "rmsprop")
NORMED = ("Dense", "Conv1D", "Conv2D", "LSTM", "Linear", "Conv1d", "Conv2d")
MOST_PROBLEMS = 4


ObservedTraining = tuple[float, str]
"""Score of a training, and the problem that it shows; empty when none."""


class FromScratch:
    """Every remedy trains from scratch."""

    name = "autotrainer-scratch"
    continues = False

    def search(self, context: SearchContext) -> list[Patch]:
        """See `Strategy.search`."""
        chance = random.Random(context.options.chance)  # noqa: S311 - a search, no secret
        base = context.base()
        kept = NOTHING
        now = self._see(NOTHING, NOTHING, context)
        for _ in range(MOST_PROBLEMS):
            step = self._treat(kept, now, context, chance) if now is not None and now[1] else None
            if step is None:
                break
            kept, now = step
        score = now[0] if now is not None else base
        if kept and context.better(base, score):
            return [kept]
        return []

    def _treat(
        self,
        kept: Patch,
        now: ObservedTraining,
        context: SearchContext,
        chance: random.Random,
    ) -> tuple[Patch, ObservedTraining] | None:
        """The first remedy after which the problem is gone and nothing is worse."""
        for remedy, tries in REMEDIES[now[1]]:
            for attempt in range(tries):
                changes = tuple(remedy_changes(remedy, context.hyperparameters, attempt, chance))
                set_again = {getattr(one, "hyperparameter", None) for one in changes}
                rest = (
                    one
                    for one in kept.changes
                    if getattr(one, "hyperparameter", one) not in set_again
                )
                patch = (
                    context.together(
                        Patch(tuple(rest)),
                        Patch(changes),
                    )
                    if changes
                    else None
                )
                if patch is None:
                    continue
                if not context.within_budget(context.cost(patch)):
                    return None
                after = self._see(patch, kept, context)
                if after is not None and after[1] != now[1] and after[0] >= now[0]:
                    return patch, after
        return None

    def _see(
        self,
        patch: Patch,
        before: Patch,
        context: SearchContext,
    ) -> ObservedTraining | None:
        """One training with its trace, judged by the rules of AutoTrainer."""
        trainer = context.trainer
        trial = replace(
            trainer.trial(patch, context.seeds[0]),
            preset="quick",
            keep_trace=True,
        )
        if self.continues and context.scratch is not None:
            start = _file(context.scratch, before) if patch else None
            trial = replace(
                trial,
                weights=Weights(start, _file(context.scratch, patch)),
            )
        (outcome,) = trainer.outcomes([trial])
        if outcome.trace is None or not outcome.trace.is_dir():
            # Continued after an interruption: the journal has the numbers, the trace is gone.
            outcome = trainer.executor.run(
                [trial],
                stop=trainer.stop,
            )[0]
        if outcome.trace is None:
            return None
        evidence = Evidence(trial.patched, trace=read_kept(trial, outcome))
        found = {finding.code for finding in run_detectors(chosen(("autotrainer",)), evidence)}
        return trainer.measure.score(outcome), next(
            (code for code in ORDER if code in found),
            "",
        )


class AutoTrainer(FromScratch):
    """As published: continues from the trained weights."""

    name = "autotrainer"
    continues = True


def _file(folder: Path, patch: Patch) -> Path:
    """Where the weights after a change are left."""
    return folder / f"{hashlib.sha256(patch.to_text().encode()).hexdigest()[:16]}.npz"


Params = Sequence[Hyperparameter]
Setting = tuple[Kind, JsonValue, bool]
"""A kind of hyperparameter, its new value, and whether it is for hidden layers alone."""
SETTINGS: dict[str, Callable[[int, random.Random], Iterable[Setting]]] = {
    "selu": lambda *_: _activation("selu"),
    "relu": lambda *_: _activation("relu"),
    "tanh": lambda *_: _activation("tanh"),
    "leaky": lambda attempt, _: [
        (
            Kind.ACTIVATION,
            ("leaky_relu", "elu")[attempt],
            True,
        )
    ],
    "clip": lambda _, chance: [
        (
            Kind.GRADIENT_CLIP,
            round(chance.uniform(9, 10), 3),
            False,
        )
    ],
    "initializer": lambda _, chance: [(Kind.WEIGHT_INIT, chance.choice(INITIALIZERS), False)],
    "adam": lambda *_: [(Kind.OPTIMIZER, "adam", False)],
    "optimizer": lambda _, chance: [(Kind.OPTIMIZER, chance.choice(OPTIMIZERS), False)],
    "plateau": lambda *_: [(Kind.SCHEDULER, "ReduceLROnPlateau", False)],
    "batch": lambda attempt, _: [
        (
            Kind.BATCH_SIZE,
            32 * 2**attempt,
            False,
        )
    ],
    "momentum": lambda _, chance: [
        (
            Kind.MOMENTUM,
            round(chance.uniform(0.01, 0.9), 3),
            False,
        )
    ],
}
"""Remedies that set values, by the number of the attempt."""
RATES = {"smaller-rate": 0.1, "larger-rate": 10.0}
"""Factors from one attempt to the next, beginning with the rate that is usual for the optimizer."""


def remedy_changes(
    remedy: str,
    params: Params,
    attempt: int,
    chance: random.Random,
) -> Iterator[Change]:
    """What a remedy changes in a program with these hyperparameters."""
    if remedy == "batch-norm":
        for param in params:
            if param.kind is Kind.LAYER and param.layer_type in NORMED and param.role == "hidden":
                yield Insert(
                    param.id,
                    "BatchNormalization" if param.library == "keras" else "BatchNorm1d",
                )
    elif remedy == "noise":
        first = next(
            (one for one in params if one.kind is Kind.LAYER and one.library == "keras"),
            None,
        )
        if first is not None:
            yield Insert(
                first.id,
                "GaussianNoise",
                {"stddev": 0.1},
                before=True,
            )
    elif remedy in RATES:
        slow = any(
            param.kind is Kind.OPTIMIZER and "sgd" in str(param.in_force).lower()
            for param in params
        )
        rate = (0.01 if slow else 0.001) * RATES[remedy] ** attempt
        yield from _set_all(
            params,
            Kind.LEARNING_RATE,
            float(f"{rate:.3g}"),
            hidden=False,
        )
    else:
        for kind, value, hidden in SETTINGS[remedy](attempt, chance):
            yield from _set_all(params, kind, value, hidden=hidden)


def _activation(value: str) -> list[Setting]:
    return [
        (Kind.ACTIVATION, value, True),
        (Kind.WEIGHT_INIT, WITH[value], True),
    ]


def _set_all(
    params: Params,
    kind: Kind,
    value: JsonValue,
    *,
    hidden: bool,
) -> Iterator[Change]:
    for param in params:
        if (
            param.kind is kind
            and not (hidden and param.role == "output")
            and param.in_force != value
        ):
            yield change_for(param, value)


STRATEGY = AutoTrainer
