"""Runs trials of one program in one box, one after another: what they import is imported once, and
each is a fresh fork in a folder that is as it was.

Reads one JSON object from its standard input: `work` (the name of the work folder in all paths),
`tree`, and `jobs` as the server of trials gets them. How a trial ended is written to the file
`ended` of its job; a trial without one did not end by itself.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import reenact_trials_child as child
import reenact_trials_server as server
from reenact_trials_tree import Tree

if TYPE_CHECKING:
    from reenact_probe.types import Facts

FIRST = ".reenact-first"
"""The folder of the program as it came."""


def main() -> None:
    text = sys.stdin.buffer.read().decode("utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # Where a tier has no namespaces, the work folder has another name than inside of the others.
    here = os.getcwd()
    task = json.loads(text.replace(json.loads(text)["work"], here))
    child.prctl(child.ADOPT_ORPHANS, 1)
    waiting, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    first = os.path.join(here, FIRST)
    os.rename(task["tree"], first)
    tree = Tree(first, task["tree"])
    for number, job in enumerate(task["jobs"]):
        if number:
            tree.restore()
        job["environment"] = {**os.environ, **job["environment"]}
        child.preload(job)
        answer = _trained(job, waiting)
        with open(job["ended"], "w", encoding="utf-8") as target:
            json.dump(answer, target)
    os._exit(0)


def _trained(job: Facts, waiting: int) -> Facts:
    """One trial from its fork to its end."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        os.close(reading)
        child.become(job, writing, waiting)
    os.close(writing)
    os.set_blocking(reading, False)
    running = server.Running(pid, reading, job)
    sources = [waiting, reading]
    while not running.over():
        ready = select.select(sources, [], [], running.pause())[0]
        if waiting in ready:
            os.read(waiting, 4096)
        if reading in ready and not running.drain():
            sources.remove(reading)
        if running.due is not None and time.monotonic() >= running.due:
            running.end("timeout")
    return running.close()


if __name__ == "__main__":
    main()
