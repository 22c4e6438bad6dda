"""The main commands in a terminal, as a user sees them: width, colour, order, and no traceback.

Captures go to the folder that CAPTURES names, else to the test's own.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import captures
import pytest

from warm import warm_reenact

pytestmark = [
    pytest.mark.release,
    pytest.mark.usefixtures("warm_python"),
    pytest.mark.xdist_group("captures"),
]
CHEAP = [name for name in captures.COMMANDS if name not in ("diagnose", "repair")]
SHOWN = {
    "lint": (
        "keras_beats.py:25:65  NL004 constant-weight-init",
        " findings in 14 files",
    ),
    "explain": ("RE019 learning-rate-outside-range", "What\n", "Why\n", "Instead\n"),
    "explain-word": (
        "Detectors that speak of 'zero_grad'",
        "RE010 gradients-not-cleared",
    ),
    "runs": ("Recorded runs",),
    "rules": ("RE019", "UM005", "8 detectors of 3 faults. "),
    "config": ("Settings in force", "  model ", " not at their default. "),
    "unknown": ("No such command 'diagnos'. Did you mean diagnose?",),
}
"""What each of the cheap ones is asked for."""
VERDICT = 1
"""The last line is one, however long: scripts read it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, warm_python: None) -> Path:
    made = tmp_path_factory.mktemp("captured")
    captures.prepare(made)
    return made


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(os.environ.get("CAPTURES") or tmp_path_factory.mktemp("captures"))


def look(name: str, folder: Path, kept: Path, columns: int) -> captures.Capture:
    """Capture it, keep it, and look at what holds for every command."""
    seen = captures.capture(captures.COMMANDS[name], folder, columns, program=(warm_reenact(),))
    seen.write(kept, name)
    lines = seen.text.splitlines()
    wide = [
        line for line in lines[:-VERDICT] if len(line) > columns and not line.startswith("    ")
    ]
    assert not wide, "only programs and diffs keep the lines they have"
    assert "Traceback" not in seen.text + seen.notes
    assert "<svg" in (kept / f"{name}-{columns}.svg").read_text("utf-8")
    return seen


@pytest.mark.parametrize("columns", captures.WIDTHS)
def test_a_diagnosis_begins_with_its_finding(folder: Path, kept: Path, columns: int) -> None:
    seen = look("diagnose", folder, kept, columns)
    lines = seen.text.splitlines()
    assert seen.exit_code == 1
    assert lines[2].startswith("train.py:20:52  RE019 learning-rate-outside-range")
    assert seen.text.index("try      - optimizer") < seen.text.index("\nThe run\n")
    assert lines[-1].endswith("finding.")
    assert "\x1b[32m+ optimizer" in seen.output, "a change has its colours"
    assert "diagnose 1/5  train once" in seen.notes
    assert "accuracy 0." in seen.notes, "what the program prints is not in the result"


def test_a_repair_begins_with_its_change(folder: Path, kept: Path) -> None:
    seen = look("repair", folder, kept, 80)
    assert seen.exit_code == 0
    lines = seen.text.splitlines()
    # What was reused is printed above the title, in as many lines as it takes.
    assert lines[lines.index("Repair of train.py") + 2] == "The change"
    assert seen.text.splitlines()[-1].startswith("Repaired by 1 change: accuracy ")


@pytest.mark.parametrize("columns", captures.WIDTHS)
@pytest.mark.parametrize("name", CHEAP)
def test_a_command_keeps_within_the_terminal(
    name: str, folder: Path, kept: Path, columns: int
) -> None:
    seen = look(name, folder, kept, columns)
    assert seen.exit_code == {"lint": 1, "unknown": 2}.get(name, 0)
    for words in SHOWN[name]:
        assert words in (seen.notes if name == "unknown" else seen.text)


@pytest.mark.parametrize("name", ["lint", "runs", "config"])
def test_only_a_terminal_that_wants_colours_gets_them(name: str, folder: Path) -> None:
    command, program = captures.COMMANDS[name], (warm_reenact(),)
    assert captures.ESCAPES.search(captures.capture(command, folder, program=program).output)
    assert "\x1b" not in captures.capture(command, folder, color=False, program=program).output
    line = [*program, *command.split()]
    piped = subprocess.run(line, cwd=folder, capture_output=True, check=False)
    assert piped.stdout
    assert b"\x1b" not in piped.stdout + piped.stderr
