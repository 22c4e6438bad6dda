"""What this machine cannot decide is read off what a run shows, never by a word of the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.bug.beyond import beyond, needed_device
from reenact.bug.classify import RunOutcome, SeedRun
from reenact.bug.project_files import ProjectFiles, project_files
from reenact.bug.reproduction import Verdict
from reenact.bug.script_runner import Frame, RunObservation
from reenact.bug.symptom import Explicit, Symptom
from reenact.claims.check import Check, Relation
from reenact.sandbox.box import Ending

IMPORTS = Frame("project", "acme/__init__.py", 1, "<module>", "<module>")
CALLS = Frame("project", "acme/ops.py", 9, "scatter", "scatter")
LIBRARY = Frame("library", "/lib/site-packages/scipy/linalg.py", 3, "<module>", "<module>")
SCRIPT = Frame("script", "script.py", 1, "<module>", "<module>")


def crash(message: str, name: str = "ValueError") -> Symptom:
    explicit = Explicit(exception=name, message=message)
    return Symptom(kind="explicit", sign="crash", words="w", explicit=explicit)


OTHER = crash("shapes do not match")


@pytest.fixture
def files(tmp_path: Path) -> ProjectFiles:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "__init__.py").write_text("from acme import _C\n")
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc" / "scatter.cpp").write_text("")
    return project_files(tmp_path)


def raised(
    name: str, message: str, *frames: Frame, missing: str = "", blamed: str = "project"
) -> SeedRun:
    classes = {"ModuleNotFoundError": ("ModuleNotFoundError", "ImportError", "Exception")}
    seen = RunObservation(
        Ending.OK,
        ended="raised",
        classes=classes.get(name, (name, "Exception")),
        message=message,
        frames=frames,
        blamed=blamed,
        missing=missing,
    )
    return SeedRun(0, seen, RunOutcome.PROJECT, "It failed.")


def passed(outcome: RunOutcome = RunOutcome.NOTHING) -> SeedRun:
    return SeedRun(0, RunObservation(Ending.OK, ended="returned"), outcome, "It ran.")


NOT_BUILT = ("ImportError", "Could not find module '_version_cpu' in /box/work")
BROKEN = ("ImportError", "cannot import name '_spropack' from 'scipy'")
NO_CUDA = ("AssertionError", "Torch not compiled with CUDA enabled")
LOADER = ("OSError", "libcudart.so.12: cannot open shared object file: No such file")


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (raised(*NOT_BUILT, SCRIPT, IMPORTS), "a compiled module of the project is not here"),
        (raised(*NOT_BUILT, SCRIPT, IMPORTS, CALLS), ""),
        (raised(*NOT_BUILT, SCRIPT, blamed="script"), ""),
        (
            raised("ModuleNotFoundError", "No module named 'acme._C'", IMPORTS, missing="acme._C"),
            "acme._C is compiled when the project is built",
        ),
        # A module that is not installed is no part of the project.
        (raised("ModuleNotFoundError", "No module named 'yaml'", IMPORTS, missing="yaml"), ""),
        (raised(*BROKEN, SCRIPT, IMPORTS, LIBRARY), "a library that is needed cannot be imported"),
        (raised(*BROKEN, SCRIPT, LIBRARY, blamed="script"), "a library that is needed"),
        (raised(*BROKEN, SCRIPT, CALLS, LIBRARY), ""),
        (raised(*LOADER, SCRIPT, IMPORTS, LIBRARY), "a library that is needed"),
        (raised("ValueError", "no", SCRIPT, IMPORTS, LIBRARY), ""),
        (raised(*NO_CUDA, SCRIPT, CALLS), "the project asks for a device that is not here"),
        # A script that asks for one is asked to leave it.
        (raised(*NO_CUDA, SCRIPT, blamed="script"), ""),
    ],
)
def test_what_stops_an_import_or_asks_for_a_device(
    files: ProjectFiles, run: SeedRun, words: str
) -> None:
    reason = beyond(OTHER, [run], files)
    assert words in reason
    assert bool(reason) is bool(words)


def test_what_is_reported_is_decided(files: ProjectFiles) -> None:
    run = raised(*NOT_BUILT, SCRIPT, IMPORTS)
    assert beyond(crash("Could not find it", "ImportError"), [run], files) == ""


def test_without_sources_to_compile_an_import_error_is_the_projects(
    files: ProjectFiles, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    (bare / "acme").mkdir(parents=True)
    (bare / "acme" / "__init__.py").write_text("")
    assert beyond(OTHER, [raised(*NOT_BUILT, IMPORTS)], project_files(bare)) == ""


CUDA = crash("found at least two devices, cuda:0 and cpu!", "RuntimeError")
DEVICE = Symptom(
    kind="silent",
    sign="device",
    words="w",
    check=Check(relation=Relation.DEVICE, text="cuda:0"),
)


@pytest.mark.parametrize("symptom", [CUDA, DEVICE])
def test_a_symptom_that_needs_a_device_is_tried_first(
    files: ProjectFiles, symptom: Symptom
) -> None:
    assert needed_device(symptom) == "cuda"
    assert "what must be seen needs cuda" in beyond(symptom, [passed()], files)
    assert beyond(symptom, [passed(), passed(RunOutcome.SYMPTOM)], files) == "", "it shows"
    assert beyond(symptom, [passed(RunOutcome.SCRIPT)], files) == "", "it did not run"
    assert beyond(symptom, [], files) == ""
    assert beyond(symptom, [passed()], files, has_device=True) == ""


@pytest.mark.parametrize(
    "symptom",
    [
        OTHER,
        crash("a barracuda swims by"),
        OTHER.model_copy(update={"words": "It fails with CUDA on my GPU."}),
        Symptom(
            kind="silent",
            sign="device",
            words="w",
            check=Check(relation=Relation.DEVICE, text="cpu"),
        ),
    ],
)
def test_words_beside_the_symptom_decide_nothing(files: ProjectFiles, symptom: Symptom) -> None:
    assert beyond(symptom, [passed()], files) == ""


HARMLESS = "from acme import Meter\n\nmeter = Meter(3)\nmeter.update(1.0)\nmeter.mean()\n"
ON_GPU = {
    "kind": "explicit",
    "sign": "crash",
    "words": "Two devices.",
    "explicit": {
        "exception": "RuntimeError",
        "message": "Expected all tensors to be on the same device, cuda:0 and cpu",
    },
}
GPU_REPORT = (
    "Meter fails with CUDA\n\nRuntimeError: Expected all tensors to be on the same device, but "
    "found at least two devices, cuda:0 and cpu!\n"
)


def test_a_bug_that_needs_a_gpu_is_never_called_not_reproduced(toy: Any, tmp_path: Path) -> None:
    """A second script is not asked for: the scripted model would have no answer."""
    answers = {"0/0": {"script": HARMLESS, "not_here": "there is no device here"}}
    for script in (answers, {"0/0": HARMLESS}):
        found = toy.reproduce(
            script, report=GPU_REPORT, symptom=ON_GPU, attempts=5, out=tmp_path / "out"
        )
        assert found.verdict is Verdict.UNDECIDABLE, found.reason
        assert found.verdict.exit_code == 3
        assert len(found.attempts) == 1
    assert "We cannot decide it on our machine" in found.reply
    assert "with cuda, and without it" in found.reply


def test_a_module_that_was_never_built_is_reported_before_a_model_is_asked(toy: Any) -> None:
    package = toy.folder / "buggy" / "acme"
    (package / "ops.cpp").write_text("")
    (package / "__init__.py").write_text("from acme import _C\nfrom acme.losses import Meter\n")
    (package / "losses.py").write_text((package / "losses.py").read_text())
    script = "from acme.losses import Meter\n\nMeter(3).mean()\n"
    found = toy.reproduce({"0/0": script}, attempts=5)
    assert found.verdict is Verdict.UNDECIDABLE, found.reason
    assert "compiled module" in found.reason
    assert found.attempts == ()
    assert toy.models[-1].calls == []


def test_the_model_may_say_that_nothing_here_decides_after_scripts_have_run(toy: Any) -> None:
    """Not with the first script, and not in place of running one."""
    reason = "it shows on Windows alone, and this is another system"
    answers = {
        "0/0": HARMLESS,
        "0/1": {"script": HARMLESS.replace("1.0", "2.0")},
        "0/2": {"cannot_here": reason},
    }
    found = toy.reproduce(answers, attempts=5)
    assert found.verdict is Verdict.UNDECIDABLE
    assert reason in found.reason
    first, second = (
        next(call for call in toy.models[-1].calls if call.step.endswith(step))
        for step in ("attempt[1]/revise", "attempt[2]/revise")
    )
    assert "cannot_here" not in str(first.schema), "nothing was tried yet that could tell"
    assert "cannot_here" in str(second.schema)


def test_what_a_last_script_shows_counts_more_than_a_models_reason(toy: Any) -> None:
    shows = "from acme import Meter\n\nMeter(3).mean()\n"
    answers = {
        "0/0": HARMLESS,
        "0/1": {"script": HARMLESS.replace("1.0", "2.0")},
        "0/2": {"script": shows, "cannot_here": "it needs another machine"},
    }
    found = toy.reproduce(answers, attempts=5)
    assert found.verdict is Verdict.REPRODUCED, found.reason
