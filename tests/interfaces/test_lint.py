"""`reenact lint`: many files, each by itself, without a framework and without leaving anything
behind.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reenact.api.linting import A_SHARE, lint_files, sources
from reenact.cli.edge import guarded
from reenact.cli.static import lint
from reenact.diagnosis.options import Depth, DiagnoseOptions

HOT = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=10.0){comment}
for x, y in batches:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
HALF = """\
import torch


def step(loss):
    loss.backward()
"""
SCORES = """\
import keras

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(3)])
model.compile(optimizer="adam", loss="categorical_crossentropy")
model.fit(x, y, epochs=5)
"""
STATIC = DiagnoseOptions(depth=Depth.STATIC)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "hot.py").write_text(HOT.format(comment=""))
    (tmp_path / "plain.py").write_text("print('no model here')\n")
    return tmp_path


def test_places_are_named_from_here(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(lint, ["--output-format", "concise"]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("deep/hot.py:5:53: UM005 learning rate 10.")
    assert "1 finding in 2 files, 1 of them with a model or a training." in printed


def test_json_has_the_findings_of_all_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(lint, ["--output-format", "json", "deep", "plain.py"]) == 1
    data = json.loads(capsys.readouterr().out)["data"]
    assert [(one["file"], one["line"]) for one in data["findings"]] == [("deep/hot.py", 5)]
    assert (data["files"], data["training"]) == (2, 1)


@pytest.mark.parametrize("words", [["--ignore", "UM"], ["--select", "NL"], ["--threshold", "1"]])
def test_rules_are_chosen(folder: Path, words: list[str]) -> None:
    assert guarded(lint, words) == 0


def test_a_comment_waves_a_finding_through(folder: Path) -> None:
    (folder / "deep" / "hot.py").write_text(
        HOT.format(comment="  # reenact: ignore[UM005] on purpose")
    )
    assert guarded(lint, []) == 0


def test_what_cannot_be_parsed_is_named_and_is_not_good(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "deep" / "hot.py").write_text("import torch\nmodel = = 3\n")
    assert guarded(lint, ["--output-format", "concise"]) == 2
    assert "deep/hot.py:1:1: PG001 deep/hot.py could not be parsed" in capsys.readouterr().out


def test_half_a_program_is_not_blamed_for_the_other_half(folder: Path) -> None:
    (folder / "deep" / "hot.py").write_text(HALF)
    (found,) = lint_files([Path("deep/hot.py")], STATIC)
    assert (found.is_training, found.findings) == (True, ())


def test_a_notebook_is_read_too(folder: Path) -> None:
    cells = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "source": HOT.format(comment=""),
        }
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "study.ipynb").write_text(json.dumps(book))
    (found,) = lint_files([Path("study.ipynb")], STATIC)
    assert [notice.code for notice in found.diagnostics] == ["UM005"]


def test_caches_environments_and_hidden_folders_are_not_ours(folder: Path) -> None:
    for name in (".hidden", "__pycache__", "node_modules", "env"):
        (folder / name).mkdir()
        (folder / name / "other.py").touch()
    (folder / "env" / "pyvenv.cfg").touch()
    found = [str(path) for path in sources([Path(), Path("plain.py")])]
    assert found == ["plain.py", "deep/hot.py"]


@pytest.mark.parametrize("pattern", ["deep", "hot.py", "deep/*", "*hot*"])
def test_what_is_excluded_is_left_out(folder: Path, pattern: str) -> None:
    assert sources([Path()], [pattern]) == [Path("plain.py")]
    assert guarded(lint, ["--exclude", f"nothing,{pattern}"]) == 0


def test_shared_among_cores_the_answer_is_the_same(folder: Path) -> None:
    files = []
    for number in range(2 * A_SHARE):
        files.append(folder / f"train_{number}.py")
        files[-1].write_text(HOT.format(comment="") if number % 3 == 0 else HALF)
    together = lint_files(files, STATIC)
    assert together == [lint_files([file], STATIC)[0] for file in files]


def test_nothing_that_reading_needs_not_is_imported_and_nothing_is_recorded(
    folder: Path,
) -> None:
    (folder / "scores.py").write_text(SCORES)
    others = ("torch", "keras", "numpy", "pydantic", "pydantic_ai", "yaml", "sqlite3")
    look = (
        "import sys; from reenact.cli.edge import guarded; from reenact.cli.main import reenact;"
        "guarded(reenact, ['lint', '.']);"
        f"print([name for name in {others} if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", look],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "scores.py:3" in ended.stdout
    assert ended.stdout.splitlines()[-1] == "[]"
    assert not (folder / ".reenact").exists()


def test_a_file_with_the_line_ends_of_old_macs_is_linted(folder: Path) -> None:
    (folder / "deep" / "hot.py").write_bytes(HOT.format(comment="").replace("\n", "\r").encode())
    (one,) = lint_files([folder / "deep" / "hot.py"], STATIC)
    assert [notice.code for notice in one.diagnostics] == ["UM005"]


def test_a_message_names_a_file_as_its_place_does(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`c\\u202eod.py` was `cod.py` in the message, which may be another file."""
    (folder / "c\u202eod.py").write_text("def (")
    guarded(lint, ["--output-format", "github", "c\u202eod.py"])
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("::"))
    assert line.count("c\\u202eod.py") == 2
