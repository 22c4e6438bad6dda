"""Mutation testing of one training program: original and mutants over seeds, which of them are
killed.

Whether a training notices a mutant is DeepCrime's test over seeds: GLM p < 0.05 and Cohen's d >=
0.5. All operators, and what they cover of the twenty-four of DeepCrime (Humbatova, Jahangirova and
Tonella, "DeepCrime: Mutation Testing of Deep Learning Systems Based on Real Faults", ISSTA 2021).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from reenact.diagnosis.mutate.operators import OPERATORS, Mutant, Operator
from reenact.diagnosis.observe import watched_run
from reenact.diagnosis.options import TrainingOptions
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import InputError
from reenact.faults.evidence import Evidence
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.result import Result, encoded
from reenact.trials.budget import TrainingBudget
from reenact.trials.metric import Measure, choose_measure
from reenact.trials.statistics import cohen_d, glm_p
from reenact.trials.trial import Trial
from reenact.types import ExitCode, JsonValue, Progress, tell_nobody

ALPHA = 0.05
EFFECT = 0.5
MOST_SEEDS = 1000
"""Trainings of each that are ever worth their time."""


class KillingJson(TypedDict):
    """Whether a mutant is noticed, as JSON."""

    p_value: float
    effect: float
    killed: bool


@dataclass(frozen=True, slots=True)
class Killing:
    """The answer for one mutant; samples are oriented, larger is better, -inf for a failed
    training.
    """

    before: tuple[float, ...]
    after: tuple[float, ...]
    p_value: float
    effect: float
    """Cohen's d, negative when the mutant is worse."""

    def json_fields(self) -> KillingJson:
        return {
            "p_value": self.p_value,
            "effect": self.effect,
            "killed": self.killed,
        }

    @property
    def killed(self) -> bool:
        """Significantly worse; DeepCrime asks only for different, DeepFD for worse."""
        return self.p_value < ALPHA and self.effect <= -EFFECT


def killed(before: Sequence[float], after: Sequence[float]) -> Killing:
    """Compare the original's and the mutant's samples; two values each at least."""
    known = [value for value in (*before, *after) if math.isfinite(value)] or [0.0]
    # Failed trainings count as worse than the worst by the whole range of what was seen.
    floor = min(known) - ((max(known) - min(known)) or 1.0)

    def finite(values: Sequence[float]) -> list[float]:
        return [value if math.isfinite(value) else floor for value in values]

    both = finite(before), finite(after)
    return Killing(
        tuple(before),
        tuple(after),
        glm_p(*both),
        cohen_d(*both),
    )


@dataclass(frozen=True)
class KillOptions:
    """How to kill."""

    seeds: int = 5
    metric: str = ""
    """The metric that judges; empty: chosen from the original's first training."""
    workers: int = 0
    """Parallel trainings; 0: one per core."""
    python: str = ""

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "seeds": self.seeds,
            "metric": self.metric,
            "python": self.python,
        }


class KillingsJson(TypedDict):
    """What came of the mutants, as JSON."""

    measure: str
    score: float
    mutants: list[dict[str, JsonValue]]


@dataclass(frozen=True, repr=False)
class Killings(Result):
    """What came of the mutants."""

    measure: Measure
    by_mutant: tuple[tuple[Mutant, Killing], ...]

    def json_fields(self) -> KillingsJson:
        return {
            "measure": self.measure.name,
            "score": self.score,
            "mutants": self.mutants,
        }

    @property
    def score(self) -> float:
        """Share of mutants that the training notices."""
        dead = sum(killing.killed for _, killing in self.by_mutant)
        return dead / len(self.by_mutant) if self.by_mutant else 0.0

    def in_a_line(self) -> str:
        dead = sum(killing.killed for _, killing in self.by_mutant)
        return f"{dead} of {len(self.by_mutant)} mutants noticed by {self.measure.name}"

    @property
    def mutants(self) -> list[dict[str, JsonValue]]:
        return [{**encoded(one), **encoded(end)} for one, end in self.by_mutant]  # type: ignore[dict-item]


def kill(
    program: Program,
    mutants: Sequence[Mutant],
    options: KillOptions,
    services: DiagnoseServices,
    seen: Evidence | None = None,
) -> Killings:
    """Train the original and every mutant over seeds; the same call after an interruption
    continues.

    The program is watched once, to know which files its trainings depend on; not when `seen` shows
    it.
    """
    if not 2 <= options.seeds <= MOST_SEEDS:
        enough = f"at least 2 of them, and {MOST_SEEDS} suffice for any"
        raise InputError(f"A test over seeds needs {enough}. Received: seeds={options.seeds}.")
    texts: list[JsonValue] = [mutant.patch.to_text() for mutant in mutants]
    request = {
        "program": Trial(program).key,
        "mutants": texts,
        **options.to_json(),
    }
    with (
        services.open_run("mutate", program, request) as run,
        services.open_executor(options.workers, options.python) as executor,
    ):
        evidence = seen
        if evidence is None:
            silent = replace(services, tell=tell_nobody)
            asked = TrainingOptions(python=options.python)
            kept, trace = watched_run(program, asked, silent, run, bare=True)
            evidence = Evidence(
                program,
                trace=trace,
                outcome=kept.outcome,
                opened=kept.opened,
            )
        trainer = services.trainer(
            evidence,
            executor,
            run,
            options.python,
            measure=Measure(options.metric),
            budget=TrainingBudget(),
            seeds=tuple(range(options.seeds)),
        )
        trainer.judge_by(
            choose_measure(
                trainer.measure_cost(),
                wanted=options.metric or None,
            )
        )
        (before,) = trainer.samples([Patch()], trainer.seeds)
        pairs: list[tuple[Mutant, Killing]] = []
        for number, mutant in enumerate(mutants):
            services.tell(
                Progress(
                    "mutants",
                    number,
                    len(mutants),
                    mutant.name,
                )
            )
            (after,) = trainer.samples([mutant.patch], trainer.seeds)
            pairs.append((mutant, killed(before, after)))
        found = Killings(trainer.measure, tuple(pairs))
        run.finish(found.to_dict(), ExitCode.OK)
    return found


_OPERATORS = """
TCL change labels of training data, TRD remove portion of training data, TUD unbalance training data,
TAN add noise to training data, TCO make output classes overlap, HBS change batch size,
HLR decrease learning rate, HNE change number of epochs, HDB disable data batching,
ACH change activation function, ARM remove activation function, AAL add activation function to layer,
RAW add weights regularisation, RCW change weights regularisation, RRW remove weights regularisation,
RCD change dropout rate, RCP change patience parameter, WCI change weights initialisation,
WAB add bias to a layer, WRB remove bias from a layer, LCH change loss function,
OCH change optimisation function, OCG change gradient clipping, VRM remove validation set
"""
DEEPCRIME = dict(one.split(maxsplit=1) for one in _OPERATORS.strip().split(","))
"""Its operators by code. Those on the data itself need code that no hyperparameter stands for, and
patience and the mere presence of biases are not hyperparameters yet: they are not covered.
"""


def covered() -> tuple[str, ...]:
    """The codes of DeepCrime's operators that ours restate."""
    ours = {code for operator in OPERATORS for code in operator.covers}
    return tuple(code for code in DEEPCRIME if code in ours)


def chosen(names: Sequence[str]) -> tuple[Operator, ...]:
    """The operators of these names, or with these fault codes; all of them when none is named.

    Raises InputError for a name that no one has.
    """
    if not names:
        return OPERATORS
    known = {word for one in OPERATORS for word in (one.name, one.fault.value)}
    if strange := [name for name in names if name not in known]:
        why = f"There is no mutation operator of that name. Received: {strange[0]}."
        raise InputError(
            why,
            next_step=f"Known: {', '.join(one.name for one in OPERATORS)}.",
        )
    return tuple(one for one in OPERATORS if one.name in names or one.fault.value in names)


def mutants(program: Program, operators: Sequence[Operator] = OPERATORS) -> Iterator[Mutant]:
    """Every mutant of a program, operator by operator."""
    for operator in operators:
        yield from operator.mutants(program)
