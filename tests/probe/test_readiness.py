"""`reenact doctor PROGRAM`: what keeps a program from running here, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.probe.readiness import obstacles
from reenact.program.program import read_program


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("RANK", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def names(folder: Path, text: str, *arguments: str, python: str = "") -> list[str]:
    (folder / "train.py").write_text(text)
    program = read_program(["train.py", *arguments], folder)
    return [one.name for one in obstacles(program, python)]


def test_a_program_that_runs_has_none(folder: Path) -> None:
    assert names(folder, "import json\nimport numpy as np\nprint(np.zeros(3))\n") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import no_such_package\n", ["packages"]),
        ("from no_such_package.part import thing\n", ["packages"]),
        ("try:\n    import no_such_package\nexcept ImportError:\n    pass\n", []),
        ("import helper\n", []),
        ("from . import helper\n", []),
    ],
)
def test_packages_are_those_of_the_interpreter(folder: Path, text: str, found: list[str]) -> None:
    (folder / "helper.py").write_text("x = 1\n")
    assert names(folder, text) == found


def test_an_interpreter_that_cannot_be_started_is_named(folder: Path) -> None:
    assert names(folder, "x = 1\n", python=str(folder / "none")) == ["interpreter"]


def test_a_line_that_cannot_be_parsed(folder: Path) -> None:
    assert names(folder, "x = (\n") == ["syntax"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import torch.distributed as dist\ndist.init_process_group(backend='gloo')\n", 1),
        (
            "import torch.distributed as d\nd.init_process_group(backend='gloo', rank=0,"
            " world_size=1)\n",
            0,
        ),
        ("def init_process_group(backend):\n    pass\ninit_process_group(backend='gloo')\n", 0),
    ],
)
def test_a_group_needs_a_launcher(folder: Path, text: str, found: int) -> None:
    assert names(folder, text).count("launcher") == found


def test_a_launcher_line_has_its_launcher(folder: Path) -> None:
    text = "import torch.distributed as dist\ndist.init_process_group(backend='gloo')\n"
    (folder / "train.py").write_text(text)
    program = read_program(["--", "torchrun", "--nproc-per-node=2", "train.py"], folder)
    assert [one.name for one in obstacles(program)] == []


ARGUMENTS = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("-o", "--out", required=True)
parser.add_argument("--lr", default=1.0)
print(parser.parse_args())
"""


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((), "The program requires data, --out."),
        (("a.csv",), "The program requires --out."),
        (("a.csv", "--out", "b"), None),
        (("a.csv", "-o", "b"), None),
        (("a.csv", "--out=b"), None),
    ],
)
def test_required_arguments(folder: Path, given: tuple[str, ...], sentence: str | None) -> None:
    (folder / "train.py").write_text(ARGUMENTS)
    found = list(obstacles(read_program(["train.py", *given], folder)))
    assert [one.sentence for one in found] == ([sentence] if sentence else [])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import numpy as np\nx = np.load('x.npy')\n", ["data"]),
        ("import numpy as np\nx = np.load('here.npy')\n", []),
        ("import numpy as np\nnp.save('x.npy', [1])\nx = np.load('x.npy')\n", []),
        ("x = open('x.txt').read()\n", ["data"]),
        ("x = open('x.txt', 'w')\n", []),
        ("def open(name):\n    return name\nx = open('x.txt')\n", []),
    ],
)
def test_files_that_are_read_must_be_there(folder: Path, text: str, found: list[str]) -> None:
    (folder / "here.npy").write_bytes(b"")
    assert names(folder, text) == found


def test_the_keyboard_is_a_note_and_no_reason_to_fail(folder: Path) -> None:
    (folder / "train.py").write_text("name = input()\n")
    found = list(obstacles(read_program(["train.py"], folder)))
    assert [(one.name, one.certain, one.line) for one in found] == [("keyboard", False, 1)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("model = torch.nn.Linear(2, 2).to('cuda')\n", True),
        ("model = torch.nn.Linear(2, 2).cuda()\n", True),
        ("device = torch.device('cuda:0')\n", True),
        ("device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n", False),
        ("if torch.cuda.is_available():\n    model = torch.nn.Linear(2, 2).cuda()\n", False),
        ("model = torch.nn.Linear(2, 2).to('cpu')\n", False),
    ],
)
def test_a_card_that_is_asked_for_in_any_case(folder: Path, text: str, asks: bool) -> None:
    torch = pytest.importorskip("torch")
    expected = asks and not torch.cuda.is_available()
    assert names(folder, f"import torch\n{text}") == ["gpu"] * expected
