"""What is repaired, built or reported before a model is asked anything."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from reenact.bug.interpreter import choose_python, wanted_series
from reenact.bug.project_files import project_files
from reenact.bug.ready import stated_versions
from reenact.bug.report import Installed
from reenact.bug.reproduction import Verdict
from reenact.bug.script_runner import Revision, ScriptRunner
from reenact.codegen.environment import Environment as Runs
from reenact.codegen.runner import ProjectRunner
from reenact.journal import Journal
from reenact.sandbox.environments.interpreters import OLDEST, Minor, find_python, minor_of
from reenact.sandbox.environments.names import Allowed
from reenact.sandbox.environments.prepare import Environments
from tests.bug.test_pipeline import CRASHES, Shop

SYSTEM = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
SETUP = """from setuptools import Extension, setup

setup(name="acme", packages=["acme"], ext_modules=[Extension("acme._fast", ["acme/fast.c"])])
"""
FAST = """#include <Python.h>

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_fast", NULL, -1, NULL};

PyMODINIT_FUNC PyInit__fast(void) { return PyModule_Create(&module); }
"""


def make_compiled(toy: Any, source: str) -> None:
    for name in ("buggy", "fixed"):
        folder = toy.folder / name
        (folder / "pyproject.toml").write_text(SYSTEM)
        (folder / "setup.py").write_text(SETUP)
        (folder / "acme" / "fast.c").write_text(source)
        init = folder / "acme" / "__init__.py"
        init.write_text("from acme import _fast\n" + init.read_text())


def test_a_compiled_project_is_built_in_the_sandbox(toy: Any, tmp_path: Path) -> None:
    make_compiled(toy, FAST)
    environments = Environments(tmp_path / "cache", box=toy.sandbox)
    found = toy.reproduce(
        {"0/0": CRASHES}, fixed=True, environments=environments, environment="auto"
    )
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert found.exits == {"buggy": 1, "fixed": 0}
    assert "The project was built in the sandbox" in "\n".join(found.notes)
    assert not list((toy.folder / "buggy").rglob("*.so")), "the checkout is as it was"


def test_a_build_that_fails_is_reported_and_nothing_is_asked(toy: Any, tmp_path: Path) -> None:
    make_compiled(toy, FAST + "\nthis is no C;\n")
    environments = Environments(tmp_path / "cache", box=toy.sandbox)
    found = toy.reproduce({}, environments=environments, environment="auto")
    assert found.verdict is Verdict.UNDECIDABLE
    assert "building it failed" in found.reason
    assert toy.models[-1].calls == []


def import_first(toy: Any, line: str) -> None:
    init = toy.folder / "buggy" / "acme" / "__init__.py"
    init.write_text(f"{line}\n{init.read_text()}")


def test_a_package_that_nobody_knows_is_named_and_nothing_is_asked(toy: Any) -> None:
    import_first(toy, "import nobodyhasthis")
    found = toy.reproduce({})
    assert found.verdict is Verdict.UNDECIDABLE
    assert "nobodyhasthis is not installed; --requirement nobodyhasthis installs it" in found.reason
    assert toy.models[-1].calls == []


def test_a_missing_package_that_the_report_is_about_is_no_obstacle(toy: Any) -> None:
    import_first(toy, "import NobodyHasThis")
    symptom = {
        "kind": "explicit",
        "sign": "crash",
        "words": "It cannot be imported.",
        "explicit": {
            "exception": "ModuleNotFoundError",
            "message": "No module named 'NobodyHasThis'",
        },
    }
    report = (
        "import acme needs a package that is optional\n\n"
        "ModuleNotFoundError: No module named 'NobodyHasThis'\n"
    )
    script = "import acme\n\nacme.Meter(3)\n"
    found = toy.reproduce({"0/0": script}, report=report, symptom=symptom)
    assert found.attempts[0].shows, found.reason
    assert found.exits == {"buggy": 1}, "the judge sees it too"


def test_a_package_that_only_an_import_shows_is_installed_first(toy: Any, tmp_path: Path) -> None:
    import_first(toy, "import importlib\n\nimportlib.import_module('sacrebleu')")
    shop = Shop(tmp_path / "shop")
    found = toy.reproduce({"0/0": CRASHES}, environments=shop, environment="auto")
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert len(found.attempts) == 1
    assert shop.asked[0] == ["sacrebleu"]
    prompt = toy.models[-1].calls[-1].as_text()
    assert "sacrebleu==2.0" in prompt, "the first question knows what is installed"


def test_versions_are_read_from_the_text_of_a_report() -> None:
    text = "Python version: 3.8.10\nPyTorch 1.8.2, numpy==1.22\nacme 3.2\nran 10.5 s\n"
    stated = {one.package: one.version for one in stated_versions(text)}
    assert stated == {"python": "3.8.10", "pytorch": "1.8.2", "numpy": "1.22"}


@pytest.mark.parametrize(
    ("stated", "day", "supported", "series"),
    [
        ("3.8.10", None, "", (3, 8)),
        ("3.6", None, "", OLDEST),
        ("", None, "", (3, 11)),
        ("", date(2024, 1, 1), "", (3, 11)),
        ("", date(2022, 2, 1), "", (3, 9)),
        ("", date(2022, 2, 1), ">=3.10", (3, 10)),
        ("", date(2024, 1, 1), "<3.11", (3, 10)),
        ("", date(2026, 1, 1), ">=3.12", (3, 13)),
        ("", date(2022, 2, 1), "nonsense", (3, 9)),
    ],
)
def test_the_python_of_the_report_or_of_its_date(
    stated: str, day: date | None, supported: str, series: Minor
) -> None:
    reported = [Installed(package="Python", version=stated)] if stated else []
    assert wanted_series(reported, day, supported, (3, 11)) == series


def test_a_python_that_cannot_be_had_is_reported(tmp_path: Path, monkeypatch: Any) -> None:
    import sys

    monkeypatch.setenv("UV_OFFLINE", "1")
    notes: list[str] = []
    assert choose_python((3, 77), sys.executable, tmp_path, notes, None) == sys.executable
    assert "Python 3.77 is not on this machine and cannot be fetched" in notes[0]


def test_scripts_are_watched_on_the_oldest_python(toy: Any, tmp_path: Path) -> None:
    python = find_python(OLDEST)
    if not python:
        pytest.skip("it is not on this machine")
    environments = Environments(tmp_path / "cache", python=python)
    made = environments.prepare((), Allowed.usual())
    assert minor_of(made.python) == OLDEST
    assert Environments(tmp_path / "cache").stored(made.key) == made, "judged with it later"
    assert made in Environments(tmp_path / "cache").listing()
    runs = Runs(made.python, made.mounts, made.key, ())
    files = project_files(toy.folder / "buggy")
    runner = ScriptRunner(ProjectRunner(toy.sandbox, 30.0), runs)
    with Journal.in_memory() as journal, journal.run(pipeline="bug", request={}) as run:
        seen = runner.observe(run, "old", CRASHES, None, (0,), Revision("buggy", files))[0]
    assert seen.classes[:1] == ("ZeroDivisionError",), seen
    assert seen.blamed == "project"
