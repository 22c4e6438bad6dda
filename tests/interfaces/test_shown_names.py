"""Names of files and texts of documents reach terminal, Markdown and page with nothing in them
obeyed.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from waiting import LONGEST_S
from warm import warm_reenact

FORMATS = ("full", "concise", "markdown", "github", "json", "sarif", "html")
NAMES = (
    b"a\x1b]0;pwned\x07.py",
    b"b\nreenact: all is well.py",
    "c\u202egnp.py".encode(),
    b"d\xff\xfe.py",
    b"e<img src=x>.py",
    b"f`<img src=y>`.py",
    "g\x9b31m\u2066.py".encode(),
)
FAULTY = (
    "import torch\nmodel = torch.nn.Linear(2, 2)\nfor x, y in data:\n    loss = model(x).sum()\n   "
    " loss.backward()\n    torch.optim.SGD(model.parameters(), lr=10.0).step()\n"
)
OBEYED = {chr(number) for number in (*range(32), *range(0x7F, 0xA0))} - {"\n", "\t"}
OBEYED |= set(
    "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


def shown(folder: Path, *words: str | bytes) -> str:
    environ = os.environ | {"PYTHONIOENCODING": "utf-8:strict", "PYTHONUTF8": "1"}
    ended = subprocess.run(
        [warm_reenact(), *words],
        cwd=folder,
        env=environ,
        capture_output=True,
        timeout=LONGEST_S,
        check=False,
    )
    text = (ended.stdout + ended.stderr).decode("utf-8")
    assert "defect of reenact" not in text
    assert not set(text) & OBEYED, text
    return ended.stdout.decode("utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:  # noqa: PTH118, PTH123
            file.write(FAULTY)
    return tmp_path


@pytest.mark.sample(4)
@pytest.mark.parametrize("form", FORMATS)
def test_names_of_linted_files_are_shown_and_not_obeyed(folder: Path, form: str) -> None:
    text = shown(folder, "lint", "--output-format", form, ".")
    assert "\nreenact: all is well" not in text
    if form in ("full", "concise"):
        assert r"a\x1b]0;pwned\x07.py:" in text
        assert r"b\nreenact: all is well.py:" in text
        assert r"c\u202egnp.py:" in text
        assert r"d\xff\xfe.py:" in text
    if form in ("markdown", "html"):
        assert "<img" not in text.replace(r"\<img", "")
    if form == "json":
        files = {notice["place"]["file"] for notice in json.loads(text)["notices"]}
        assert {os.fsencode(file) for file in files} == set(NAMES)
    if form == "sarif":
        assert "d%FF%FE.py" in text


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_a_program_with_such_a_name_is_diagnosed(folder: Path, name: bytes) -> None:
    assert shown(folder, "diagnose", "--depth", "static", name)


def test_a_paper_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_text(
        "On lines\n\nA \x1b]0;pwned\x07line \x1b[31mis\x9b0m \u202egnol.\n"
    )
    text = shown(tmp_path, "read", "--text", "paper.txt")
    assert "line" in text
    for form in FORMATS:
        shown(tmp_path, "read", "--output-format", form, "paper.txt")


def test_an_option_that_is_no_option_is_not_obeyed_either(tmp_path: Path) -> None:
    shown(tmp_path, "lint", "--\x1b]0;pwned\x07", "no\x1b[31mwhere.py")
    shown(tmp_path, "lint", b"no\xff\x1b[31mwhere.py")


def test_only_the_edge_prints() -> None:
    """Texts leave a command through `echo`, `show` or an error, which clean them."""
    source = Path(__file__).parents[2] / "src" / "reenact" / "cli"
    own = {"edge.py", "options.py", "main.py", "help.py", "demo.py", "watch.py"}
    assert not [
        file.name
        for file in source.glob("*.py")
        if "click.echo" in file.read_text() and file.name not in own
    ]
