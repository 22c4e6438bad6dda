"""Runs tests of the project where they lie, with its own conftest files and settings, and writes which
passed.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

RESULT = "tests.json"


class Outcomes:
    """What became of each test, as pytest reports it."""

    def __init__(self) -> None:
        self.passed: dict[str, bool] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test that is skipped says nothing."""
        if report.when == "call" and not report.skipped:
            self.passed[report.nodeid] = report.passed and self.passed.get(report.nodeid, True)
        elif report.failed:
            self.passed[report.nodeid] = False

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be imported is a failed test."""
        if report.failed:
            self.passed[report.nodeid] = False


def main() -> None:
    """Read the task from the standard input and run the files that it names."""
    task = json.loads(sys.stdin.buffer.read())
    result = os.path.abspath(RESULT)
    roots = [os.path.abspath(root) for root in task["roots"]]
    os.chdir(task["project"])
    sys.path[0:1] = roots
    outcomes = Outcomes()
    code = 0
    why = ""
    try:
        import pytest
    except ImportError:
        why = "pytest is not installed"
    else:
        options = [
            "-q",
            "-p",
            "no:cacheprovider",
            "-o",
            "addopts=",
            "-x" if task["first"] else "-q",
        ]
        code = int(pytest.main([*options, *task["files"]], plugins=[outcomes]))
    with open(result, "w", encoding="utf-8") as file:
        json.dump({"passed": outcomes.passed, "code": code, "why": why}, file)


if __name__ == "__main__":
    main()
