"""Mutants of real-looking programs: every patch applies, parses and changes something."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from reenact.diagnosis.mutate.operators import OPERATORS
from reenact.diagnosis.mutate.pipeline import DEEPCRIME, chosen, covered, mutants
from reenact.errors import InputError
from reenact.faults.fault_type import FaultType
from reenact.program.hyperparameter import Kind
from reenact.program.program import Program, program_from_text, read_program
from reenact.program.syntax.source import Language

CORPUS = Path(__file__).parents[2] / "corpus"
STYLES = (
    "keras_functional",
    "keras_sequential_add",
    "keras_subclassed",
    "torch_module_functional",
    "torch_sequential_literal",
    "torch_scheduler_clip",
    "torch_argparse_defaults",
    "torch_yaml_config",
)
SCRIPT = """
import keras
from keras import layers
x = load() / 255.0
model = keras.Sequential([
    layers.Dense(16, activation="relu"), layers.Dropout(0.3), layers.Dense(3, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss="sparse_categorical_crossentropy")
model.fit(x, y, epochs=20, batch_size=32)
"""


def entry(style: str) -> Path:
    """The script of a corpus program."""
    folder = CORPUS / style
    named = [folder / "train.py", folder / "main.py"]
    return next(
        (file for file in named if file.exists()),
        next(iter(sorted(folder.glob("*.py")))),
    )


@pytest.fixture(scope="module")
def small() -> Program:
    return program_from_text(SCRIPT)


@pytest.mark.sample(4)
@pytest.mark.parametrize("style", STYLES)
def test_every_mutant_of_a_corpus_program_parses_and_differs(style: str) -> None:
    program = read_program((str(entry(style)),))
    found = list(mutants(program))
    assert len({one.operator for one in found}) >= 6
    for one in found:
        made = one.patch.apply(program)
        for file in made.files:
            if file.language is Language.PYTHON:
                ast.parse(file.text)
        assert one.patch.diff(program) or made.launch.words != program.launch.words


def test_mutants_of_one_operator_are_all_different(small: Program) -> None:
    texts = [one.patch.apply(small).files[0].text for one in mutants(small)]
    by_operator = [one.operator for one in mutants(small)]
    pairs = list(zip(by_operator, texts, strict=True))
    assert len(set(pairs)) == len(pairs)


def test_operators_say_which_fault_they_make(small: Program) -> None:
    found = {one.operator: one.fault for one in mutants(small)}
    assert found["learning-rate"] is FaultType.HLR
    assert found["loss"] is FaultType.LCH
    assert found["scaling"] is FaultType.CPP
    assert found["weight-init"] is FaultType.WCI
    assert found["activation-removed"] is FaultType.ARM


def test_learning_rates_go_far_up_and_far_down(small: Program) -> None:
    (operator,) = chosen(["learning-rate"])
    values = [one.patch.changes[0].value for one in operator.mutants(small)]  # type: ignore[union-attr]
    assert min(values) <= 1e-5
    assert max(values) >= 1.0


def test_the_loss_is_of_the_other_family(small: Program) -> None:
    (operator,) = chosen(["loss"])
    texts = [one.patch.apply(small).files[0].text for one in operator.mutants(small)]
    assert texts
    assert not any("crossentropy" in text for text in texts)


def test_operators_are_chosen_by_name_and_by_fault() -> None:
    assert {one.name for one in chosen(["ACH"])} == {
        "activation-hidden",
        "activation-output",
    }
    assert chosen([]) == OPERATORS
    with pytest.raises(InputError, match="Received: no-such"):
        chosen(["no-such"])


def test_sixteen_of_deepcrimes_operators_are_covered() -> None:
    assert len(DEEPCRIME) == 24
    assert len(covered()) == 16
    assert {code for operator in OPERATORS for code in operator.covers} <= set(DEEPCRIME)


def test_a_program_without_hyperparameters_has_no_mutants() -> None:
    assert not list(mutants(program_from_text("print('hello')")))


def test_names_of_operators_are_unique() -> None:
    assert len({one.name for one in OPERATORS}) == len(OPERATORS)
    assert Kind.LEARNING_RATE.value in {one.name for one in OPERATORS}
