"""A folder with two small cases: a bug that is there and fixed, and a report of one that is not
there.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.llm.ask import Call

NAMED = (
    "user.name=Maintainer",
    "user.email=maintainer@example.org",
    "commit.gpgsign=false",
)
GIT = ("git", *(word for one in NAMED for word in ("-c", one)))
METER = '''"""Running means."""


class Meter:
    """The mean of its updates."""

    def __init__(self, window=10):
        self.window = window
        self.values = []

    def update(self, value):
        self.values = [*self.values, value][-self.window :]

    def mean(self):
        {GUARD}return sum(self.values) / len(self.values)
'''
GUARD = "if not self.values:\n            return 0.0\n        "
MESSAGE = "ZeroDivisionError: division by zero"
REPORTS = {
    "early-mean": "Meter crashes before the first update\n\n"
    f"Meter(3), asked for its mean at once: {MESSAGE}\n",
    "late-mean": f"Meter crashes after an update\n\nMeter(3), update(1.0), then mean: {MESSAGE}\n",
}
ORACLE = (
    "import sys\nfrom acme import Meter\ntry:\n    {}\nexcept ZeroDivisionError:\n    sys.exit(1)\n"
)
SYMPTOM = {
    "kind": "explicit",
    "sign": "crash",
    "words": "Meter.mean raises ZeroDivisionError.",
    "explicit": {"exception": "ZeroDivisionError", "message": "division by zero"},
}
ORDERED = {
    "title": "A crash",
    "observed": MESSAGE,
    "expected": "a number",
    "steps": ["ask for the mean"],
}
PLAN = {
    "idea": "Ask for it.",
    "steps": ["Meter(3).mean()"],
    "closing": "The call raises.",
}
AT_ONCE = "from acme import Meter\n\nmeter = Meter(3)\nmeter.mean()\n"
AFTER = "from acme import Meter\n\nmeter = Meter(3)\nmeter.update(1.0)\nmeter.mean()\n"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """The folder of the cases."""
    repo = tmp_path / "repo"
    (repo / "acme").mkdir(parents=True)
    subprocess.run([*GIT, "init", "-q", "-b", "main"], cwd=repo, check=True)
    hashes = []
    for guard in ("", GUARD):
        (repo / "acme" / "__init__.py").write_text(METER.replace("{GUARD}", guard))
        subprocess.run([*GIT, "add", "-A"], cwd=repo, check=True)
        subprocess.run([*GIT, "commit", "-q", "-m", "a change"], cwd=repo, check=True)
        done = subprocess.run(
            [*GIT, "rev-parse", "HEAD"],
            cwd=repo,
            check=True,
            capture_output=True,
            text=True,
        )
        hashes.append(done.stdout.strip())
    for name, report in REPORTS.items():
        folder = tmp_path / "cases" / name
        folder.mkdir(parents=True)
        there = name == "early-mean"
        (folder / "report.md").write_text(report)
        call = "Meter(3).mean()" if there else "meter = Meter(3); meter.update(1.0); meter.mean()"
        (folder / "oracle.py").write_text(ORACLE.format(call))
        subprocess.run(
            [
                *GIT,
                "bundle",
                "create",
                "-q",
                str(folder / "project.bundle"),
                "HEAD",
                "main",
            ],
            cwd=repo,
            check=True,
        )
        facts = {
            "id": name,
            "title": "A crash",
            "project": "acme",
            "kind": "explicit",
            "bug": "division by zero",
            "fault": "numeric",
            "symptom": "crash",
            "buggy": hashes[0],
            "fixed": hashes[1] if there else None,
            "expected": "reproduced" if there else "not reproduced",
            "packages": [],
            "imports_from": ".",
            "seconds": 20,
        }
        (folder / "case.json").write_text(json.dumps(facts))
    return tmp_path / "cases"


Answer = Callable[[Call], Any]


def spoken(call: Call) -> str:
    """All words of a call."""
    return call.system + "".join(
        getattr(part, "text", "") for turn in call.turns for part in turn.parts
    )


@pytest.fixture
def answering() -> Callable[..., Answer]:
    """A reader who reads the prompt alone; `scripts` are the answers to the two reports."""

    def make(early: str = AT_ONCE, late: str = AFTER) -> Answer:
        def answer(call: Call) -> Any:
            last = call.step.rpartition("/")[2]
            fixed = {"restructure": ORDERED, "symptom": SYMPTOM, "plan": PLAN}
            if last in fixed:
                # The report in order keeps the title, by which the later prompts are distinguished.
                title = (
                    "after an update"
                    if "after an update" in spoken(call)
                    else "before the first update"
                )
                return ORDERED | {"title": title} if last == "restructure" else fixed[last]
            return {"script": late if "after an update" in spoken(call) else early}

        return answer

    return make
