"""Imports torch and Keras once, then runs each program in a fresh fork of itself, watched or not.

A program pays seconds for its imports; a fork pays nothing. What the interpreter's start does for a
watched program (`sitecustomize`) is done here by hand; the tests of that start itself use real
processes. Reads one JSON job a line from stdin, writes one JSON answer a line.
"""

import atexit
import json
import os
import runpy
import sys
import traceback
from pathlib import Path


def main():
    import keras  # noqa: F401
    import torch

    torch.set_num_threads(1)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(job)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), flush=True)


def _run(job):
    for number, name in ((1, job["stdout"]), (2, job["stderr"])):
        os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    atexit._clear()
    os.environ.update(job["environment"])
    os.chdir(job["cwd"])
    sys.argv = job["argv"]
    sys.path[0] = str(Path(job["argv"][0]).resolve().parent)
    code = 0
    try:
        if job["config"] is not None:
            _start_probe(job["inject"], job["config"])
        _execute(job)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # noqa: BLE001 - what the interpreter itself does with it
        sys.last_value = error
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _execute(job):
    if job["module"]:
        runpy.run_module(job["argv"][0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(job["argv"][0], run_name="__main__")


def _start_probe(inject, options):
    sys.path.insert(0, inject)
    from reenact_probe import boot, config

    sys.path.remove(inject)
    boot.start(config.Config(options.pop("folder"), **options), own_process=True)


if __name__ == "__main__":
    main()
