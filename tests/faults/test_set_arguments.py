"""An argument is set as well where its value has a name."""

from __future__ import annotations

import pytest

from reenact.diagnosis.judge import read_only
from reenact.program.flow.library_uses import is_set
from reenact.program.program import program_from_text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("loss = Loss(from_logits=True)\n", True),
        ("named = True\nloss = Loss(from_logits=named)\n", True),
        ("named = other = True\nagain = named\nloss = Loss(from_logits=again)\n", True),
        ("named = False\nloss = Loss(from_logits=named)\n", False),
        ("named = True\nnamed = False\nloss = Loss(from_logits=named)\n", False),
        ("named, other = True, False\nloss = Loss(from_logits=other)\n", False),
        ("named = named\nloss = Loss(from_logits=named)\n", False),
        ("def build(named):\n    return Loss(from_logits=named)\n", False),
    ],
)
def test_an_argument_is_set(text: str, found: bool) -> None:
    assert is_set(read_only(program_from_text(text)).files, "from_logits") is found
