"""A place is a line of the program: what a library writes among the temporary files to run it is not."""

from __future__ import annotations

import pytest

from reenact.testing.faults import evidence_of

pytestmark = pytest.mark.usefixtures("warm_python")

PROGRAM = """
import importlib.util
import pathlib
import tempfile

import torch
from torch import nn

folder = pathlib.Path(tempfile.mkdtemp())
written = folder / "written_by_a_library.py"
written.write_text("from torch import nn\\n\\ndef made():\\n    return nn.Dropout(0.8)\\n")
spec = importlib.util.spec_from_file_location("written_by_a_library", written)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
model = nn.Sequential(nn.Linear(4, 16), module.made(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters())
for step in range(5):
    optimizer.zero_grad()
    model(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
"""


def test_a_layer_is_made_by_the_line_that_asks_generated_code_for_it() -> None:
    evidence = evidence_of(PROGRAM, run=True)
    (dropout,) = (one for one in evidence.layers if one.type == "Dropout")
    assert dropout.place is not None
    line = PROGRAM.splitlines()[dropout.place.line - 1]
    assert "module.made()" in line
