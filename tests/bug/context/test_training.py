"""The eight families of signs, and what only looks like one."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from reenact.bug.context.index import CodeIndex, build_index
from reenact.bug.context.training import FAMILIES, find_loops, find_signs
from reenact.bug.project_files import project_files

EXAMPLES = {
    "session": "for i in range(3):\n    session.run(step)",
    "fit": "model.fit(x, y)",
    "apply": "optimizer.apply_gradients(zip(g, v))",
    "tape": "with tf.GradientTape() as t:\n    y = f(x)\ng = t.gradient(y, x)",
    "step": "while True:\n    optimizer.step()",
    "loss": "total_loss.backward()",
    "loader": "for batch in train_loader:\n    batch = batch.to(device)",
    "lightning": "class M:\n    def training_step(self, batch): ...",
}


def families(text: str) -> set[str]:
    return {sign.family for sign in find_signs(ast.parse(textwrap.dedent(text)))}


def test_there_are_eight_families() -> None:
    assert tuple(EXAMPLES) == FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_is_seen(family: str) -> None:
    assert families(EXAMPLES[family]) == {family}


@pytest.mark.parametrize(
    "text",
    [
        "session.run(step)",
        "optimizer.step()",
        "print(loss.item())",
        "for batch in names:\n    batch.to(device)",
        "super().fit(x)",
        "fit(x)",
        "scene.gradient(x)",
        "for i in x:\n    def f():\n        optimizer.step()",
    ],
)
def test_look_alikes_are_not(text: str) -> None:
    assert families(text) == set()


def test_loops_are_placed_and_ordered(code: CodeIndex) -> None:
    (loop,) = find_loops(code, code.files.paths, {})
    assert loop.chunk.name == "Trainer"
    assert loop.families == ("step", "loss", "loader")
    assert loop.score == 1.0
    assert (
        loop.chunk.text.split("\n")[loop.lines[0] - loop.chunk.first].strip()
        == "self.optimizer.zero_grad()"
    )
    assert find_loops(code, [], {}) == ()


def test_evaluation_is_no_training(tmp_path: Path) -> None:
    (tmp_path / "evaluate.py").write_text(
        "def evaluate(loader):\n    for x in loader:\n        x.to('cpu')\n        "
        "print(loss.item())\n"
    )
    code = build_index(project_files(tmp_path))
    assert find_loops(code, code.files.paths, {}) == ()
