"""All operators, and what they cover of the twenty-four of DeepCrime (Humbatova, Jahangirova and Tonella,
"DeepCrime: Mutation Testing of Deep Learning Systems Based on Real Faults", ISSTA 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reenact.diagnosis.mutate.mutant import Mutant, Operator
from reenact.diagnosis.mutate.operators import OPERATORS
from reenact.errors import InputError
from reenact.program.program import Program

DEEPCRIME = {
    "TCL": "change labels of training data",
    "TRD": "remove portion of training data",
    "TUD": "unbalance training data",
    "TAN": "add noise to training data",
    "TCO": "make output classes overlap",
    "HBS": "change batch size",
    "HLR": "decrease learning rate",
    "HNE": "change number of epochs",
    "HDB": "disable data batching",
    "ACH": "change activation function",
    "ARM": "remove activation function",
    "AAL": "add activation function to layer",
    "RAW": "add weights regularisation",
    "RCW": "change weights regularisation",
    "RRW": "remove weights regularisation",
    "RCD": "change dropout rate",
    "RCP": "change patience parameter",
    "WCI": "change weights initialisation",
    "WAB": "add bias to a layer",
    "WRB": "remove bias from a layer",
    "LCH": "change loss function",
    "OCH": "change optimisation function",
    "OCG": "change gradient clipping",
    "VRM": "remove validation set",
}
"""Its operators by code. Those on the data itself need code that no hyperparameter stands for, and patience
and the mere presence of biases are no hyperparameters yet: they are not covered."""


def covered() -> tuple[str, ...]:
    """The codes of DeepCrime's operators that ours restate."""
    ours = {code for operator in OPERATORS for code in operator.covers}
    return tuple(code for code in DEEPCRIME if code in ours)


def chosen(names: Sequence[str]) -> tuple[Operator, ...]:
    """The operators of these names, or with these fault codes; all of them when none is named.

    Raises InputError for a name that nobody has.
    """
    if not names:
        return OPERATORS
    known = {operator.name for operator in OPERATORS} | {operator.fault.value for operator in OPERATORS}
    strange = [name for name in names if name not in known]
    if strange:
        listed = ", ".join(operator.name for operator in OPERATORS)
        raise InputError(
            f"There is no mutation operator of that name. Received: {strange[0]}.",
            next_step=f"Known: {listed}.",
        )
    return tuple(one for one in OPERATORS if one.name in names or one.fault.value in names)


def mutants(program: Program, operators: Sequence[Operator] = OPERATORS) -> Iterator[Mutant]:
    """Every mutant of a program, operator by operator."""
    for operator in operators:
        yield from operator.mutants(program)
