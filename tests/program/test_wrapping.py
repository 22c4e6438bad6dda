"""Several changes around one layer: what wraps it, what stands behind it, what calls it by its
place.
"""

from __future__ import annotations

import pytest

from reenact.errors import PatchConflict
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch, change_for
from reenact.program.program import Program, program_from_text
from reenact.program.static_graph import hyperparameters_of

TORCH = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        return self.out(self.inner(x).relu())
"""


def param(program: Program, layer: str, kind: Kind) -> Hyperparameter:
    return next(k for k in hyperparameters_of(program) if (k.id.layer, k.kind) == (layer, kind))


def test_a_layer_is_wrapped_or_initialised_by_its_place_but_not_both() -> None:
    program = program_from_text(TORCH)
    changes = (
        change_for(param(program, "inner", Kind.LAYER), {"repeat": 2}),
        change_for(param(program, "inner", Kind.BIAS_INIT), "zeros_"),
    )
    for order in (changes, changes[::-1]):
        with pytest.raises(PatchConflict, match="wraps inner"):
            Patch(order).apply(program)


def test_an_activation_joins_the_list_that_takes_a_layer_by_its_variable() -> None:
    source = """from torch import nn
head = nn.Linear(4, 1)
net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), head)
"""
    program = program_from_text(source)
    new = Patch((change_for(param(program, "head", Kind.ACTIVATION), "sigmoid"),)).apply(program)
    assert "nn.ReLU(), head, nn.Sigmoid())" in new.files[0].text


def test_a_loss_takes_the_activation_layer_in_front_of_it_along() -> None:
    source = """from keras.models import Sequential
from keras.layers import Dense, Activation
model = Sequential()
model.add(Dense(8, activation='relu'))
model.add(Dense(3))
model.add(Activation('softmax'))
model.compile(loss='categorical_crossentropy', optimizer='sgd')
"""
    program = program_from_text(source)
    loss = next(k for k in hyperparameters_of(program) if k.kind is Kind.LOSS)
    new = Patch((change_for(loss, "binary_crossentropy"),)).apply(program)
    assert "Activation('sigmoid')" in new.files[0].text.replace('"', "'")
