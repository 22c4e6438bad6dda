"""What a value is made of, asked of a file."""

from __future__ import annotations

from pathlib import Path

from reenact.faults.facts.roles import is_loss_call
from reenact.program.flow.uses import given
from reenact.program.syntax.index import FileIndex, index_of
from reenact.program.syntax.source import SourceFile

TEXT = """
class Judge:
    def make(self, rate=0.1):
        return self(rate)

Judge.make()
Judge().make(0.5)
"""


def index(text: str) -> FileIndex:
    found = index_of(SourceFile(Path("train.py"), text))
    assert not isinstance(found, str)
    return found


def test_the_object_of_a_method_is_no_argument_of_a_call() -> None:
    file = index(TEXT)
    assert list(given(file, "self")) == []
    assert not any(is_loss_call(call) for call in file.calls)


def test_arguments_are_what_calls_hand_over() -> None:
    assert [value.value for value in given(index(TEXT), "rate")] == [0.5]  # type: ignore[attr-defined]
