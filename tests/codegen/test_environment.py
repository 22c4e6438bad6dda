"""The packages of generated code: whose word counts, and what is stated of another version."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reenact.api.session import names_of
from reenact.codegen.environment import environment_for
from reenact.codegen.project import Project
from reenact.sandbox.environments.names import Allowed, Requirement
from reenact.sandbox.environments.stored import Environment

PROJECT = Project({"train.py": "import tinysource\n", "requirements.txt": "tinysource==0.3\n"})


@dataclass
class Shelf:
    """Answers as a builder does that has wheels of these packages alone."""

    packages: tuple[str, ...]

    def prepare(self, needed: tuple[Requirement, ...], allowed: Allowed, **_: Any) -> Environment:
        allowed.check(needed)
        return Environment("key", Path("/made"), self.packages, 1, "/usr")


def test_a_package_that_only_the_model_names_needs_the_users_word() -> None:
    shelf: Any = Shelf(("tinysource==0.3",))
    refused = environment_for(PROJECT, (), (), shelf)
    assert refused.lacking == ("tinysource",)
    assert "--allow-packages tinysource" in refused.notes[0]
    allowed = environment_for(PROJECT, (), ("tinysource",), shelf)
    assert (allowed.lacking, allowed.packages, allowed.notes) == (
        (),
        ("tinysource==0.3",),
        (),
    )


def test_another_version_than_was_asked_for_is_stated() -> None:
    shelf: Any = Shelf(("tinysource==0.2",))
    found = environment_for(PROJECT, ("tinysource==0.3",), (), shelf)
    assert found.notes == (
        "tinysource==0.3 has no wheel here and cannot be built: 0.2 was installed in its place.",
    )


@pytest.mark.parametrize("given", ["one, two", ("one,two",), ("one", "two")])
def test_names_may_stand_between_commas_as_the_error_writes_them(given: Any) -> None:
    assert names_of(given, "allow_packages") == ("one", "two")
