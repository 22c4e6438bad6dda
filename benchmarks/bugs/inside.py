"""Runs in the box: an oracle once a revision and seed, each in a fork, so that packages are
imported once.

The task comes on standard input, the exit codes go to codes.json. Only the parent writes them: what
an oracle prints is never read as a result.
"""

import importlib
import json
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

COULD_NOT_RUN = 125


def main() -> None:
    task = json.load(sys.stdin)
    for name in task["packages"]:
        try:
            importlib.import_module(name)
        except ImportError:
            traceback.print_exc()
    codes = [[run(path, seed) for seed in task["seeds"]] for path in task["paths"]]
    Path("codes.json").write_text(json.dumps(codes), encoding="utf-8")


def run(path: str, seed: int) -> int:
    """The exit code of the oracle in a child process; a death by signal says nothing about the
    bug.
    """
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os._exit(code_of(path, seed))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else COULD_NOT_RUN


def code_of(path: str, seed: int) -> int:
    """Run the oracle as a script; an exception that gets out of it is no verdict."""
    sys.argv = ["oracle.py", str(seed)]
    sys.path[0] = str(Path(path).absolute())
    code: Any = 0
    try:
        runpy.run_path("oracle.py", run_name="__main__")
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001 - whatever else gets out, a child may not go on as its parent
        traceback.print_exc()
        code = COULD_NOT_RUN
    sys.stdout.flush()
    sys.stderr.flush()
    if code is None:
        return 0
    return code if isinstance(code, int) and 0 <= code <= COULD_NOT_RUN else COULD_NOT_RUN


if __name__ == "__main__":
    main()
