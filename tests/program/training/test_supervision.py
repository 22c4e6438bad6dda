"""What a program's text tells of its outputs and labels."""

from __future__ import annotations

import ast

import pytest

from reenact.program.training.supervision import counts_answers


def counts(text: str) -> bool:
    return any(counts_answers(node) for node in ast.walk(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "a = b.argmax(1)",
        "a += (b == c).sum()",
        "a = torch.sum(b == c)",
        "a = torch.eq(b, c).float()",
        "a = accuracy_score(b, c)",
        "m.compile(metrics=['accuracy'])",
    ],
)
def test_right_answers_are_counted(text: str) -> None:
    assert counts(text)


@pytest.mark.parametrize(
    "text",
    [
        "accuracy = b.mean()  # accuracy, argmax, f1",
        "correct = (b > c).sum()",
        "print('accuracy so far', b)",
        "confusion = b == c",
    ],
)
def test_names_and_comments_count_nothing(text: str) -> None:
    assert not counts(text)
