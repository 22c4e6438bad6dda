"""Missing modules: proposed, built where names are known, and otherwise left out with a word."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import Any

from reenact.paper.develop.packages import prepared_for
from reenact.paper.project import Project
from reenact.sandbox.environments.names import Allowed
from reenact.sandbox.environments.prepare import Environments
from reenact.sandbox.environments.stored import Environment

PROJECT = Project(
    {"a.py": "import packaging, torch_geometric\n", "requirements.txt": "torch-geometric>=2.5\nother\n"}
)


class Builder:
    """An environment builder that notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def prepare(self, wanted: Any, allowed: Allowed) -> Environment:
        self.asked = [(one.text, one.proposed_by.value) for one in wanted]
        allowed.check(wanted)
        return Environment("key", Path("/env"), ("torch-geometric==2.6",), 1, "/usr")


def test_what_is_missing_is_built_beside_what_is_used() -> None:
    builder: Any = Builder()
    made = prepared_for(PROJECT, ("rich",), (), builder)
    version = importlib.metadata.version("packaging")
    assert builder.asked == [
        ("rich", "user"),
        (f"packaging=={version}", "repository"),
        ("torch-geometric>=2.5", "model"),
    ]
    assert made.python == "/env/bin/python"
    assert (made.lacking, made.proposed) == ((), ("torch-geometric>=2.5",))


def test_a_name_that_nobody_vouches_for_is_not_installed(tmp_path: Path) -> None:
    strange = Project({"a.py": "import madeupbyamodel\n"})
    made = prepared_for(strange, (), (), Environments(tmp_path))
    assert made.python == sys.executable
    assert made.lacking == ("madeupbyamodel",)
    assert "--allow-packages madeupbyamodel" in made.notes[0]
    builder: Any = Builder()
    assert prepared_for(strange, (), ("madeupbyamodel",), builder).lacking == ()
