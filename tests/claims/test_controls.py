"""Programs that control a check do what the program does, and look otherwise."""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from reenact.claims import controls
from reenact.claims.claim import Claim
from reenact.program.program import Program
from tests.claims.conftest import CHECK, RETURNS, program_of

TRAINING = """\
import torch
from torch import nn


def train(rate=0.1, epochs=4):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.5)
    for epoch in range(epochs):
        total = sum(number for number in range(epoch))
        try:
            loss = model(torch.ones(1, 2)).sum() + total
        except ValueError as error:
            raise RuntimeError from error
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return total


print("total", train())
"""


def printed(text: str) -> str:
    printed_text = io.StringIO()
    with contextlib.redirect_stdout(printed_text):
        exec(compile(text, "train.py", "exec"), {"__name__": "__main__"})
    return printed_text.getvalue()


@pytest.mark.parametrize("text", [RETURNS, TRAINING])
def test_rewritten_it_does_the_same(tmp_path: Path, text: str) -> None:
    program = program_of(tmp_path, text)
    other = controls.rewritten(program, CHECK)
    assert other is not None
    assert "#" not in other.entry_file.text
    assert ast.dump(ast.parse(other.entry_file.text)) != ast.dump(ast.parse(text))
    assert printed(other.entry_file.text) == printed(text)


def test_names_of_the_script_stay(tmp_path: Path) -> None:
    program = program_of(tmp_path, TRAINING)
    other = controls.rewritten(
        program, 'seen = reach.until("loss.backward()")\nobserved = seen.total'
    )
    assert other is not None
    names = {
        node.id for node in ast.walk(ast.parse(other.entry_file.text)) if isinstance(node, ast.Name)
    }
    assert {"loss", "total", "rate"} <= names
    assert "optimizer" not in names


def test_an_irrelevant_edit_is_as_large(program: Program, claim_of: Callable[..., Claim]) -> None:
    patched = claim_of().patch.apply(program)
    other = controls.irrelevant(program, patched)
    assert other is not None
    more = len(other.entry_file.text.splitlines()) - len(program.entry_file.text.splitlines())
    assert more == 2
    assert printed(other.entry_file.text) == printed(RETURNS)


def test_mutants_leave_what_the_edit_touches(tmp_path: Path) -> None:
    program = program_of(tmp_path, TRAINING)
    patched = program_of(tmp_path, TRAINING.replace("momentum=0.5", "momentum=0.6"))
    found = [one.name for one in controls.mutants(program, patched)]
    assert found
    assert not any("momentum" in name for name in found)
    assert all(one.program.files != patched.files for one in controls.mutants(program, patched))
