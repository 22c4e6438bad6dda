"""The acts of the demo that are told by the verbs themselves, as a user would call them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

from reenact.demo import CASES
from reenact.errors import Inconclusive
from reenact.own_process import own_command, own_environment
from reenact.types import ExitCode

NO_TORCH = "-> left out: PyTorch is not installed here; pip install 'reenact[torch]'"
TRAINING = "train.py"
"""The training that is watched, diagnosed and repaired: its learning rate is far too large."""
BUG = CASES / "bugs/abacusnet-five-classes"
"""The report, and the recorded answers to it."""
PAPER = CASES / "papers/damped-octaves"
"""The paper, and the recorded answers to it."""


def watched(folder: Path) -> Iterator[str]:
    """A failing training, run as a user runs it."""
    yield "A training that fails is run unmodified, and what happens inside is seen"
    if importlib.util.find_spec("torch") is None:
        yield NO_TORCH
        return
    _write_training(folder)
    for words in (["watch", "--out", "trace", TRAINING], ["params", TRAINING]):
        yield f"$ reenact {' '.join(words)}"
        ended = run(own_command(*words), folder)
        if ended.returncode != 0:
            raise Inconclusive(f"reenact {words[0]} ended with {ended.returncode}: {ended.stderr[-500:]}")
        yield from (f"| {line}" for line in ended.stdout.splitlines())


def diagnosed(folder: Path) -> Iterator[str]:
    """The same training: what is wrong with it, and what happens when that is changed."""
    yield "What is wrong with it is found, changed, and trained again over seeds"
    if importlib.util.find_spec("torch") is None:
        yield NO_TORCH
        return
    _write_training(folder)
    words = ["diagnose", "--depth", "normal", TRAINING]
    yield f"$ reenact {' '.join(words)}"
    ended = run(own_command(*words), folder)
    if ended.returncode != ExitCode.FOUND:
        raise Inconclusive(f"reenact diagnose ended with {ended.returncode}: {ended.stderr[-500:]}")
    lines = ended.stdout.splitlines()
    facts = lines[: lines.index("", 2)]
    findings = next((at for at, line in enumerate(lines) if line.startswith(f"{TRAINING}:")), len(facts))
    yield from (
        f"| {line}" for line in [*facts, "", "[curves, layers and symptoms left out]", "", *lines[findings:]]
    )
    yield "-> the same with --output-format html is a page with curves and pictures that can be mailed"


def repaired(folder: Path) -> Iterator[str]:
    """The same training: the smallest change that mends it, verified."""
    yield "It is repaired: the smallest change that holds on fresh seeds, as a diff"
    if importlib.util.find_spec("torch") is None:
        yield NO_TORCH
        return
    _write_training(folder)
    words = ["repair", "--budget", "10", TRAINING]
    yield f"$ reenact {' '.join(words)}"
    ended = run(own_command(*words), folder)
    if ended.returncode != ExitCode.OK:
        raise Inconclusive(f"reenact repair ended with {ended.returncode}: {ended.stderr[-500:]}")
    yield from (f"| {line}" for line in ended.stdout.splitlines())
    yield "-> --apply writes it into the file, --branch onto a git branch"


def shown(folder: Path) -> Iterator[str]:
    """A bug report and a project: the script that shows it, by recorded answers and real runs."""
    yield "A bug is shown: from a report to a script that fails with the bug and passes without it"
    case = BUG
    told = json.loads((case / "case.json").read_text(encoding="utf-8"))
    words = ["bug", str(case / "report.md"), "--repo", str(case / "project.bundle"), "--commit"]
    words += [told["buggy"], "--fixed", told["fixed"], "--model", f"replay:{case / 'recording.jsonl'}"]
    yield "$ reenact bug report.md --repo project.bundle --commit BUGGY --fixed FIXED --model replay:..."
    ended = run(own_command(*words), folder)
    if ended.returncode != ExitCode.OK:
        raise Inconclusive(f"reenact bug ended with {ended.returncode}: {ended.stderr[-500:]}")
    yield from (f"| {line}" for line in ended.stdout.splitlines())
    yield "-> the model's answers were recorded; every script was run just now, in the sandbox"


def reproduced(folder: Path) -> Iterator[str]:
    """A paper: read, written as code, run, verified, measured, by recorded answers."""
    yield "A paper is reproduced: read, written as code, run, verified by its own words, and measured"
    if importlib.util.find_spec("torch") is None:
        yield NO_TORCH
        return
    case = PAPER
    told = tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))
    goal = [word for name, value in told["goal"].items() for word in (f"--{name}", value)]
    words = ["paper", str(case / "paper"), *goal, "--library", str(case / "library"), "--seeds",
             str(told["seeds"]), "--model", f"replay:{case / 'recordings' / 'whole.jsonl'}",
             "--out", "paper"]  # fmt: skip
    yield "$ reenact paper paper/ --library library/ --task ... --model replay:whole.jsonl --out paper"
    ended = run(own_command(*words), folder)
    if ended.returncode != ExitCode.OK:
        raise Inconclusive(f"reenact paper ended with {ended.returncode}: {ended.stderr[-500:]}")
    lines = ended.stdout.splitlines()
    most = next((at for at, line in enumerate(lines) if line.startswith("Criteria")), len(lines))
    yield from (f"| {line}" for line in [*lines[:most], "[criteria left out]", "", lines[-1]])
    yield f"-> sentence by sentence, line by line: {folder / 'paper' / 'report.html'}"


def run(argv: list[str], folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """A command in the folder of the demo, with what it printed."""
    return subprocess.run(  # noqa: S603
        argv,
        cwd=folder,
        env=own_environment() | {"COLUMNS": "100"} | environ,
        capture_output=True,
        text=True,
        check=False,
    )


def _write_training(folder: Path) -> None:
    (folder / TRAINING).write_bytes((CASES / TRAINING).read_bytes())
