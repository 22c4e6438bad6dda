"""What a program calls its own modules says nothing of them."""

from __future__ import annotations

import pytest

from reenact.probe.injected import part

PROGRAM = """
from torch import nn
class GELU(nn.Module):
    pass
class ConvBlock(nn.Module):
    nonlinearity = "relu"
class Short(nn.GELU):
    pass
class Wide(nn.Conv2d):
    pass
"""


@pytest.mark.parametrize(
    ("made", "kind", "activation", "axis"),
    [
        ("nn.GELU()", "GELU", "gelu", None),
        ("Short()", "GELU", "gelu", None),
        ("GELU()", "", None, None),
        ("nn.Conv2d(1, 1, 1)", "Conv2d", None, 1),
        ("Wide(1, 1, 1)", "Conv2d", None, 1),
        ("ConvBlock()", "", None, None),
        ("nn.RNN(2, 2, nonlinearity='relu')", "RNN", "relu", None),
    ],
)
def test_a_module_is_what_a_library_calls_it(
    made: str, kind: str, activation: str | None, axis: int | None
) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    exec(PROGRAM, names)  # the program that defines them
    module = eval(made, names)
    facts = part("torch.facts")
    assert facts.library_kind(module) == kind
    assert facts.activation_of(module) == activation
    assert facts.unit_axis(module) == axis
