"""What reading finds: files, syntax, names, imports, the contract's functions."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from reenact.codegen.environment import environment_for, imported
from reenact.codegen.project import Project
from reenact.paper.develop.checks import Stage, static_problems


def found(project: Project, stage: Stage = Stage.EXPERIMENT) -> list[str]:
    return [
        str(one)
        for one in static_problems(project, environment_for(project, (), (), None), stage.due)
    ]


def test_a_whole_project_has_nothing_against_it(line: Project) -> None:
    assert found(line) == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("model.py", "def f(:\n", "model.py:1: It does not parse"),
        (
            "model.py",
            "def loss_on(a, b):\n    return missing\n",
            "Undefined name `missing`",
        ),
        (
            "train.py",
            "from model import nothing\n",
            "train.py:1: `model` has no `nothing` to import.",
        ),
        (
            "train.py",
            "import model.inner\n",
            "There is no project module `model.inner`.",
        ),
        ("train.py", "from helpers.more import x\n", "`helpers`"),
        ("train.py", "print('--seed --dry-run')\n", "--scale"),
        ("data.py", "def load():\n    return 1\n", "It must define `sample_batch`"),
        ("README.md", "", "README.md: This file is missing or empty"),
        ("model.py", "import torch\n", "It must define `build_model`"),
        (
            "model.py",
            "import nosuchmodule\n",
            "`nosuchmodule` cannot be imported here. Proposed: nosuchmodule.",
        ),
        ("model.py", "import reenact\n", "`reenact` cannot be imported here"),
        (
            "evaluate.py",
            "def evaluate(scale):\n    n_test = int(99 * scale)\n",
            "`n_test` follows --scale",
        ),
        (
            "evaluate.py",
            "def go(a):\n    count = a.scale * 9\n    return make(n_test=count)\n",
            "`n_test` follows",
        ),
        (
            "evaluate.py",
            "def go(a, model):\n    return evaluate(model, round(9 * a.scale))\n",
            "`evaluate` follows",
        ),
    ],
)
def test_each_mistake_is_named(line: Project, name: str, text: str, words: str) -> None:
    problems = found(line.changed({name: text}))
    assert any(words in one for one in problems), problems


@pytest.mark.parametrize(
    "text",
    [
        "epochs = int(40 * scale)\n    test_error = train(epochs)",
        "eval_every = int(10 * scale)",
    ],
)
def test_what_is_trained_and_how_often_is_evaluated_may_follow_the_scale(
    line: Project, text: str
) -> None:
    problems = found(line.changed({"extra.py": f"def go(scale, train):\n    {text}\n"}))
    assert not any("follows" in one for one in problems), problems


def test_packages_of_the_project_and_stars_are_followed(line: Project) -> None:
    inner = {
        "parts/__init__.py": "",
        "parts/one.py": "from .two import value\n",
        "parts/two.py": "value = 1\n",
        "extra.py": "from parts import one\nfrom parts.one import value\nfrom evaluate import *\n",
        "last.py": "from extra import anything\n",
    }
    assert found(line.changed(inner)) == []
    assert found(line.changed({**inner, "parts/two.py": "other = 1\n"})) == [
        "parts/one.py:1: `two` has no `value` to import."
    ]


def test_a_stage_asks_only_for_its_own_files(line: Project) -> None:
    early = Project({name: line.files[name] for name in ("config.py", "data.py")})
    assert found(early, Stage.DATA) == []
    assert any("model.py" in one for one in found(early, Stage.METHOD))


def test_imports_and_proposals() -> None:
    project = Project(
        {
            "a.py": "import os, numpy.linalg\nfrom sklearn.svm import SVC\nimport b\n",
            "b.py": "import nosuchmodule\n",
        }
    )
    assert imported(project) == ("nosuchmodule", "numpy", "sklearn")
    written = project.changed({"requirements.txt": "nosuchmodule==1.2  # why\n-r other\n"})
    prepared = environment_for(written, (), (), None)
    assert "nosuchmodule" in prepared.lacking
    assert "nosuchmodule==1.2" in prepared.proposed
    assert prepared.python == sys.executable
    assert "packages cannot be added" in prepared.notes[0]


def test_what_the_user_wants_and_is_here_changes_nothing() -> None:
    here = environment_for(Project({"a.py": "import packaging\n"}), ("packaging",), (), None)
    assert (here.lacking, here.proposed) == ((), ())
    wanting: Any = environment_for(
        Project({"a.py": "import packaging\n"}), ("packaging<0.1",), (), None
    )
    assert wanting.proposed == ("packaging<0.1",)
