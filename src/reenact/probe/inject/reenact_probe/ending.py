"""How the process ends: the exception that ended it, the last chunk of the trace, and training in
forks.

A process made by fork shares its parent's recording and must not write to it. It leaves one small
file at its first optimizer step; the parent finds the file when it ends. Loading workers never
step, so they leave none.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from typing import Any

from reenact_probe.crash import describe
from reenact_probe.exits import usage_error
from reenact_probe.folder import Folder
from reenact_probe.guard import guarded, switch_off
from reenact_probe.recorder import Recorder
from reenact_probe.types import Facts

NOTE = "forked.json"
SENTENCE = (
    "a process made by fork trained: what happens in it is not observed (one made by spawn is)"
)


def at_exit(recorder: Recorder) -> None:
    """Have the end of the recording written when the interpreter of this process exits."""
    pid = os.getpid()

    def finish() -> None:
        if os.getpid() == pid:
            # The interpreter keeps the exception that ended the main program before exit handlers
            # run.
            close(recorder, getattr(sys, "last_value", None))

    atexit.register(finish)


def close(recorder: Recorder, error: BaseException | None) -> None:
    """Finish every part and write how it ended, even when the probe switched itself off on the
    way.
    """
    _finish(recorder)
    try:
        _write(recorder, error)
    except Exception as failure:  # noqa: BLE001 - see guard.py
        switch_off("exit-end", failure)


@guarded("exit")
def _finish(recorder: Recorder) -> None:
    for observer in recorder.observers:
        observer.finish()
    if os.path.exists(os.path.join(recorder.folder.path, NOTE)) and recorder.owned:
        recorder.note_missing(SENTENCE)


def _write(recorder: Recorder, error: BaseException | None) -> None:
    facts: Facts = {"finished": error is None}
    noted = describe(error) if error is not None else usage_error()
    if noted is not None:
        facts["error"] = noted
        if error is not None:
            for observer in recorder.observers:
                noted.update(observer.crash_facts(error))
        if recorder.claimed is None:
            # A process that trains nothing still says why it died.
            rank = os.environ.get("RANK")
            name = "crash-main.json" if rank is None else f"crash-rank{int(rank)}.json"
            recorder.folder.write_json(name, {"error": facts["error"]})
    recorder.close(facts)


def stop_here(recorder: Recorder) -> None:
    """End the process now: enough was seen. Output is written out first; nothing else of the
    program runs.
    """
    _finish(recorder)
    recorder.close({"finished": False, "stopped": True})
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(0)


def note_training(folder: Folder) -> None:
    """In the child: note the first step of an optimizer of torch."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    def stepped(*_: Any) -> None:
        handle.remove()
        # Nothing of the probe may reach the program, a full disk least of all.
        with contextlib.suppress(OSError):
            folder.write_json(NOTE, {"pid": os.getpid()})

    handle = register_optimizer_step_post_hook(stepped)
