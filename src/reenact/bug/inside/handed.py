"""Runs what is handed over as a maintainer would: repro.py as a program, the test as a test.

Each in a fork of this process, after the frameworks were imported once. The exit code says which of
them failed: START, and 1 for the program, 2 for the test. Nothing of it is watched.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import traceback
import types
import unittest
from collections.abc import Callable

START = 64


def main() -> None:
    """Read the task from the standard input, run both, say how they ended."""
    task = json.loads(sys.stdin.buffer.read())
    sys.path[0:1] = [os.path.abspath(root) for root in task["roots"]]
    for name in task["seeded"]:
        importlib.import_module(name)
    failed = 1 if fails(lambda: run_program(task["program"])) else 0
    if task["test"] and fails(lambda: run_test(task["test"])):
        failed += 2
    sys.stdout.flush()
    os._exit(START + failed)


def fails(run: Callable[[], None]) -> bool:
    """Whether it fails, in a process of its own."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run()
            code = 0
        except SystemExit as leaving:
            code = 0 if leaving.code in (None, 0) else 1
        except BaseException:  # noqa: BLE001 - a stranger's program may raise anything
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return os.waitpid(child, 0)[1] != 0


def run_program(file: str) -> None:
    """The file as `python FILE`."""
    sys.argv[:] = [file]
    runpy.run_path(file, run_name="__main__")


def run_test(file: str) -> None:
    """Every test of the file: functions, and methods of a TestCase."""
    module = types.ModuleType("handed_over")
    sys.modules["handed_over"] = module
    vars(module).update(runpy.run_path(file, run_name="handed_over"))
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    functions = [one for name, one in vars(module).items() if name.startswith("test_")]
    count = suite.countTestCases() + len(functions)
    if not count:
        raise SystemExit(f"{file} holds no test")
    for function in functions:
        function()
    if not unittest.TextTestRunner(stream=sys.stderr).run(suite).wasSuccessful():
        raise SystemExit(1)


if __name__ == "__main__":
    main()
