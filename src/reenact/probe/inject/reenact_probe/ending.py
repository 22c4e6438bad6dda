"""How the process ends: the exception that ended it, and the last chunk of the trace."""

from __future__ import annotations

import atexit
import os
import sys
import traceback
from typing import TYPE_CHECKING

from reenact_probe import forked
from reenact_probe.guard import guarded, switch_off
from reenact_probe.places import is_library
from reenact_probe.types import Facts

if TYPE_CHECKING:
    from reenact_probe.boot import Session
    from reenact_probe.recorder import Recorder

_MAX_TEXT = 4000
_MAX_FRAMES = 40


class Ending:
    """Writes the end of a recording when the interpreter exits."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._pid = os.getpid()
        atexit.register(self.at_exit)

    def at_exit(self) -> None:
        if os.getpid() == self._pid:
            # The interpreter keeps the exception that ended the main program before exit handlers run.
            close(self.session, getattr(sys, "last_value", None))


def close(session: Session, error: BaseException | None) -> None:
    """Finish every part and write how it ended, even when the probe switched itself off on the way."""
    _finish_parts(session)
    try:
        _write(session, error)
    except Exception as failure:  # noqa: BLE001 - see guard.py
        switch_off("exit-end", failure)


@guarded("exit")
def _finish_parts(session: Session) -> None:
    for part in session.parts:
        part.finish()
    forked.mention(session.recorder)


def _write(session: Session, error: BaseException | None) -> None:
    facts: Facts = {"finished": error is None}
    if error is not None:
        facts["error"] = describe(error)
        for part in session.parts:
            facts["error"].update(part.crash_facts(error))
        _leave_note(session.recorder, facts["error"])
    session.recorder.close(facts)


def _leave_note(recorder: Recorder, error: Facts) -> None:
    """A process that trains nothing still says why it died."""
    if recorder.unclaimed:
        os.makedirs(recorder.folder.path, exist_ok=True)
        rank = os.environ.get("RANK")
        name = "crash-main.json" if rank is None else f"crash-rank{int(rank)}.json"
        recorder.folder.write_json(name, {"error": error})


def describe(error: BaseException) -> Facts:
    """An exception as JSON: type, message, frames, and the innermost place in the user's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not is_library(frame.filename)]
    place = own[-1] if own else (frames[-1] if frames else None)
    if isinstance(error, SyntaxError) and error.filename:
        place = traceback.FrameSummary(error.filename, error.lineno or 1, "", line=(error.text or "").strip())
    return {
        "type": type(error).__name__,
        "module": type(error).__module__,
        "message": str(error)[:_MAX_TEXT],
        "file": getattr(error, "filename", None) if isinstance(error, OSError) else None,
        "place": [place.filename, place.lineno, 0, 0, 0] if place else None,
        "source": place.line if place else None,
        "frames": [[frame.filename, frame.lineno, frame.name, frame.line] for frame in frames[-_MAX_FRAMES:]],
        "bases": [base.__name__ for base in type(error).__mro__],
    }


def stop_here(recorder: Recorder) -> None:
    """End the process now: enough was seen. Output is written out first; nothing else of the program runs."""
    from reenact_probe import boot

    _finish_parts(boot.current())
    recorder.close({"finished": False, "stopped": True})
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(0)
