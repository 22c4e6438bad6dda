"""What a user names is a plain file of a bounded size, or it is refused in a sentence:
everywhere.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from warm import warm_python_of_commands

MEMORY = 3 << 30
DRIVER = """
import contextlib, io, json, resource, signal, sys
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
from reenact.cli.edge import guarded
from reenact.cli.main import reenact

def too_long(number, frame):
    raise TimeoutError("waited for ever")

signal.signal(signal.SIGALRM, too_long)
for argv in json.loads(sys.stdin.read()):
    received = io.StringIO()
    signal.alarm(120)
    with contextlib.redirect_stderr(received), contextlib.redirect_stdout(received):
        code = guarded(reenact, argv)
    signal.alarm(0)
    sys.__stdout__.write(json.dumps([argv, code, received.getvalue()]) + "\\n")
    sys.__stdout__.flush()
"""
COMMANDS: dict[str, list[str]] = {
    "lint": ["lint", "{}"],
    "params": ["params", "{}"],
    "graph": ["graph", "{}"],
    "watch": ["watch", "{}"],
    "diagnose": ["diagnose", "{}"],
    "repair": ["repair", "{}"],
    "alternatives": ["alternatives", "--known", "{}", "train.py"],
    "mutate": ["mutate", "{}"],
    "claimed-edit": [
        "test-hypothesis",
        "--claim",
        "x",
        "--edit",
        "{}",
        "--check",
        "train.py",
        "train.py",
    ],
    "claimed-check": [
        "test-hypothesis",
        "--claim",
        "x",
        "--edit",
        "fix.diff",
        "--check",
        "{}",
        "train.py",
    ],
    "bug-repo": ["bug", "--model", "replay:answers.jsonl", "--repo", "{}", "report.md"],
    "bug-report": ["bug", "--model", "replay:answers.jsonl", "--repo", "project", "{}"],
    "replay": ["bug", "--model", "replay:{}", "--repo", "project", "report.md"],
    "record": [
        "bug",
        "--model",
        "replay:answers.jsonl",
        "--record",
        "{}",
        "--repo",
        "project",
        "report.md",
    ],
    "read": ["read", "{}"],
    "fingerprint": ["fingerprint", "--model", "replay:answers.jsonl", "{}"],
    "paper": ["paper", "--model", "replay:answers.jsonl", "{}"],
    "addendum": [
        "paper",
        "--model",
        "replay:answers.jsonl",
        "--addendum",
        "{}",
        "paper.md",
    ],
    "relay": ["relay", "relay", "x", "--answer", "{}"],
    "import": ["runs", "import", "{}"],
    "rubric": [
        "evaluate",
        "--model",
        "replay:answers.jsonl",
        "--rubric",
        "{}",
        "project",
    ],
    "judgements": ["evaluate", "--judgements", "{}", "project"],
    "form": ["evaluate", "--form", "{}", "project"],
}
# `lint` goes on to its end and says which files it could not read; its exit code has tests of its
# own.
NOT_A_FOLDER = ("bug-repo", "read", "fingerprint", "paper", "lint")
"""Here a folder is as good as a file."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("named")
    os.mkfifo(made / "fifo.py")
    (made / "zero.py").symlink_to("/dev/zero")
    (made / "folder.py").mkdir()
    with (made / "huge.py").open("wb") as file:
        file.truncate(5 << 30)
    (made / "project").mkdir()
    (made / "relay").mkdir()
    (made / "project" / "train.py").write_text("import torch\n", "utf-8")
    (made / "train.py").write_text("import torch\n", "utf-8")
    edit = "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-import torch\n+import torch.nn\n"
    (made / "fix.diff").write_text(edit, "utf-8")
    (made / "report.md").write_text("# It fails\n\nTraining raises ValueError.\n", "utf-8")
    (made / "paper.md").write_text("# A paper\n\nIt says something.\n", "utf-8")
    (made / "answers.jsonl").write_text('{"format": "reenact-recording/1"}\n', "utf-8")
    return made


def _ran(folder: Path, lines: list[list[str]]) -> list[tuple[list[str], int, str]]:
    environ = {
        **os.environ,
        "REENACT_RUNS_DIR": str(folder / "runs"),
        "REENACT_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run(
        [warm_python_of_commands(), "-c", DRIVER.format(memory=MEMORY)],
        cwd=folder,
        input=json.dumps(lines),
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    found: list[Any] = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(lines), done.stderr[-2000:]
    return [(argv, code, text) for argv, code, text in found]


@pytest.mark.parametrize("name", ["fifo.py", "zero.py", "folder.py", "huge.py"])
def test_it_is_refused_in_a_sentence_by_every_command(folder: Path, name: str) -> None:
    commands = [key for key in COMMANDS if name != "folder.py" or key not in NOT_A_FOLDER]
    lines = [[word.replace("{}", name) for word in COMMANDS[key]] for key in commands]
    wrong = [
        (argv, code, text[-500:])
        for argv, code, text in _ran(folder, lines)
        if (code != 2 and argv[0] != "lint")
        or "defect" in text
        or "waited for ever" in text
        or len(text.split()) < 5
    ]
    assert wrong == []


def test_a_project_with_a_fifo_in_it_is_read_around_it(folder: Path) -> None:
    os.mkfifo(folder / "project" / "requirements.txt")
    os.mkfifo(folder / "project" / "model.py")
    ((_, code, text),) = _ran(
        folder, [[word.replace("{}", "project") for word in COMMANDS["bug-repo"]]]
    )
    assert "waited for ever" not in text
    assert code == 2
    assert "no answer for step" in text


def test_a_settings_file_without_end_is_refused(folder: Path, tmp_path: Path) -> None:
    with (tmp_path / "reenact.toml").open("wb") as file:
        file.truncate(5 << 30)
    ((_, code, text),) = _ran(tmp_path, [["config"]])
    assert (code, "more than 1 MiB" in text) == (2, True)
