"""Dotted names, classes and signatures of a project, read from its source alone."""

from __future__ import annotations

import ast
from pathlib import Path, PurePosixPath

import pytest

from reenact.bug.codebase import (
    Absent,
    Class,
    Codebase,
    Function,
    Module,
    Outside,
    Value,
)
from reenact.bug.project_files import identity, project_files
from reenact.bug.symptom import Symptom
from reenact.bug.validate.stages import objections
from reenact.intake.repository import Checkout

FILES = {
    "src/tool/__init__.py": "from .core import *\nfrom .core import Base as Root\nVERSION = '1'\n",
    "src/tool/core.py": (
        "import torch\nfrom dataclasses import dataclass\ndef run(x, /, y, *more, z=1, **rest): "
        "...\ndef fixed(a, b=2): ...\nclass Base:\n    def __init__(self, size): self.size = "
        "size\n    def go(self, speed): ...\nclass Child(Base):\n    extra = 1\nclass "
        "Net(torch.nn.Module):\n    def forward(self, x): ...\n@dataclass\nclass Box:\n    "
        "width: int\n    height: int = 2\n"
    ),
    "src/tool/lazy.py": "def __getattr__(name): ...\n",
    "setup.py": "",
    "venv/hidden.py": "",
    ".git/x.py": "",
}


@pytest.fixture
def project(tmp_path: Path) -> Codebase:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Codebase(project_files(tmp_path))


def test_modules_start_below_src(project: Codebase) -> None:
    assert project.files.roots == (PurePosixPath("src"), PurePosixPath())
    assert project.files.modules["tool.core"] == PurePosixPath("src/tool/core.py")
    assert not any("hidden" in str(path) or ".git" in str(path) for path in project.files.paths)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tool", Module),
        ("tool.core.run", Function),
        ("tool.run", Function),
        ("tool.Root", Class),
        ("tool.VERSION", Value),
        ("tool.lazy.anything", Value),
        ("tool.core.torch.nn", Outside),
        ("torch.nn.Linear", Outside),
        ("tool.core.gone", Absent),
        ("tool.gone.run", Absent),
        ("tool.gone", Absent),
    ],
)
def test_dotted_names(project: Codebase, name: str, kind: type) -> None:
    assert isinstance(project.find(name), kind)


def class_named(project: Codebase, name: str) -> Class:
    found = project.find(f"tool.core.{name}")
    assert isinstance(found, Class)
    return found


def test_attributes_of_classes(project: Codebase) -> None:
    child = class_named(project, "Child")
    assert child.has("size")
    assert child.has("extra")
    assert child.has("go")
    assert not child.has("stop")
    assert class_named(project, "Net").has("anything"), "a base outside the project may have it"


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        ("fixed(1)", ""),
        ("fixed(1, b=3)", ""),
        ("fixed(*args)", ""),
        ("fixed(**given)", ""),
        ("fixed()", "without `a`"),
        ("fixed(1, 2, 3)", "at most 2"),
        ("fixed(1, c=3)", "no parameter `c`"),
        ("run(1, 2, 3, 4, q=5)", ""),
        ("run(1)", "without `y`"),
        ("Child(3)", ""),
        ("Child(width=3)", "no parameter `width`"),
        ("Box(1)", ""),
        ("Box(1, depth=2)", "no parameter `depth`"),
    ],
)
def test_arguments(project: Codebase, call: str, wrong: str) -> None:
    script = f"from tool.core import run, fixed, Child, Box\nargs = given = []\n{call}\n"
    symptom = Symptom.model_validate(
        {
            "kind": "explicit",
            "sign": "crash",
            "words": "w",
            "explicit": {"exception": "ValueError"},
        }
    )
    sentences = " ".join(map(str, objections(script, project, symptom)))
    assert (wrong in sentences) if wrong else not sentences


def test_a_reader_sees_no_self(project: Codebase) -> None:
    bound = class_named(project, "Base").methods["go"].signature(bound=True)
    assert bound is not None
    assert ast.unparse(bound) == "speed"


def test_identity_is_the_commit_or_the_content(project: Codebase) -> None:
    folder = project.files.folder
    assert identity(Checkout(folder, "a" * 40, "x", 1), project.files) == "a" * 40
    changed = identity(Checkout(folder, "a" * 40 + "+changes", "x", 1), project.files)
    (folder / "setup.py").write_text("x = 1\n")
    assert changed != identity(Checkout(folder, "", "x", 1), project_files(folder))
