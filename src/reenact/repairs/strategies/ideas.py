"""Ideas: changes worth a training, the most promising first.

What the diagnosis suggests comes first, by how sure it is: all that is proven or strongly suspected
at once, what is known to interact as one, then each by itself. Then what repairs most trainings of
this kind, by the prevalence of fault types (Humbatova et al. 2020) and by the facts of the program.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from reenact.diagnosis.candidates import (
    WORTH_TRYING,
    Candidate,
    interacting,
    is_firm,
    joint,
    whole,
)
from reenact.faults.agreement import firsts
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding
from reenact.program.graph import TaskType
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch, change_for
from reenact.repairs.search_context import SearchContext
from reenact.types import JsonValue

OF_A_SUSPECT = 3
"""Suggestions of one suspect that are tried."""
SQUASHING = frozenset(("sigmoid", "tanh", "hard_sigmoid", "softmax", "linear", "exponential"))
PRIOR = {
    Kind.LEARNING_RATE: 0.30,
    Kind.OPTIMIZER: 0.25,
    Kind.ACTIVATION: 0.22,
    Kind.LOSS: 0.20,
    Kind.EPOCHS: 0.18,
    Kind.WEIGHT_INIT: 0.16,
    Kind.BATCH_SIZE: 0.12,
    Kind.WEIGHT_REGULARIZER: 0.12,
    Kind.DROPOUT: 0.08,
    Kind.UNITS: 0.08,
}
"""How likely a change of this kind helps a training of which nothing else is known."""
PRIOR_SOURCE = "prior"
"""Of ideas that no finding suggests."""


@dataclass(frozen=True, slots=True)
class Idea:
    """A change and how promising it is before it was tried."""

    patch: Patch
    weight: float
    source: str
    """Code of the finding that suggests it, or `prior`."""


def ideas(context: SearchContext) -> list[Idea]:
    """Every idea once, the most promising first; only what can be applied and judged."""
    found = (*_suggested(context), *_usual(context))
    known = firsts(
        found,
        lambda idea: tuple(sorted(map(str, idea.patch.changes))),
    )
    return sorted(known, key=lambda one: -one.weight)


def fits(context: SearchContext, idea: Idea) -> bool:
    """Whether it can be applied and judged. What a model wrote is trained in a sandbox, not here."""
    return bool(idea.patch) and not idea.patch.is_code and context.applies(idea.patch)


def _suggested(context: SearchContext) -> Iterator[Idea]:
    # Data held out for validation tell more of a training and make it no better.
    able = [one for one in context.suspects if one.edits and one.fault is not FaultType.VRM]
    likely = [one for one in able if one.suspicion >= WORTH_TRYING]
    # Longer training helps nearly every program a little: it comes alone.
    yield from _together(context, [one for one in likely if one.fault is not FaultType.HNE])
    for suspect in likely:
        for rank, suggestion in enumerate(suspect.edits[:OF_A_SUSPECT]):
            yield Idea(
                suggestion.patch,
                suspect.suspicion * 0.6**rank,
                suspect.first.code,
            )


def _together(context: SearchContext, likely: Sequence[Finding]) -> Iterator[Idea]:
    """What is proven or strongly suspected, as far as it fits together, and known interactions:
    outside of text books several faults hide each other.
    """

    def applies(candidates: Sequence[Candidate]) -> bool:
        return context.together(*(one.patch for one in candidates)) is not None

    firm: list[Candidate] = []
    for suspect in filter(is_firm, likely):
        fitting = (
            one.patch
            for one in suspect.edits
            if not one.patch.is_code and context.applies(one.patch)
        )
        for patch in islice(fitting, 1):
            if patch:
                firm.append(Candidate(suspect, patch))
    for group in (firm, *interacting(firm)):
        chosen = joint((), group, applies)
        if len(chosen) > 1:
            yield Idea(
                whole(chosen),
                max(one.suspect.suspicion for one in chosen),
                "joint",
            )


def _usual(context: SearchContext) -> Iterator[Idea]:
    params = context.hyperparameters
    for param in params:
        prior = PRIOR.get(param.kind, 0.0)
        for rank, value in enumerate(_values(param, context)):
            yield Idea(
                Patch((change_for(param, value),)),
                prior * 0.7**rank,
                PRIOR_SOURCE,
            )
    hidden = [one for one in params if one.kind is Kind.ACTIVATION and one.role == "hidden"]
    bent = [one for one in hidden if str(one.in_force).lower() in SQUASHING]
    if len(bent) > 1:
        yield _all(
            bent,
            "relu",
            PRIOR[Kind.ACTIVATION] * 1.2,
        )
    written = [one for one in params if one.kind is Kind.WEIGHT_INIT and not one.absent]
    if len(written) > 1:
        usual = "glorot_uniform" if written[0].library == "keras" else "xavier_uniform_"
        yield _all(
            written,
            usual,
            PRIOR[Kind.WEIGHT_INIT] * 1.2,
        )


def _all(params: Sequence[Hyperparameter], value: JsonValue, weight: float) -> Idea:
    return Idea(
        Patch(tuple(change_for(param, value) for param in params)),
        weight,
        PRIOR_SOURCE,
    )


def _values(param: Hyperparameter, context: SearchContext) -> Sequence[JsonValue]:
    """The few values of one hyperparameter that are worth it without any finding."""
    now = param.in_force
    others = param.alternatives
    if param.kind is Kind.LEARNING_RATE and isinstance(now, int | float):
        return [
            *others[:4],
            now * 10,
            now / 10,
        ]
    if param.kind is Kind.LOSS:
        regression = context.evidence.task is TaskType.REGRESSION
        fitting = ("squared", "mse") if regression else ("entropy", "bce")
        return [one for one in others if any(part in str(one).lower() for part in fitting)][:1]
    if param.kind is Kind.ACTIVATION:
        if param.role == "hidden" and str(now).lower() in SQUASHING:
            return others[:1]
        return ()
    if param.kind is Kind.WEIGHT_REGULARIZER:
        return () if param.absent else (None,)
    if param.kind in (Kind.WEIGHT_INIT, Kind.DROPOUT):
        return () if param.absent else others[:1]
    return others[
        : {
            Kind.UNITS: 1,
            Kind.OPTIMIZER: 2,
            Kind.EPOCHS: 2,
            Kind.BATCH_SIZE: 2,
        }.get(param.kind, 0)
    ]
