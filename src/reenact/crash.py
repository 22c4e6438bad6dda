"""Armed crash points: places where a test may kill the process as a power cut would.

`crash_point("C6")` does nothing unless REENACT_CRASH_AT names it (`C6`, or `C6:3` for the third time it is
passed). Then the process dies by SIGKILL at once: no clean-up, no flush, no exit handler.
"""

import os
import signal
from collections import Counter

_passed: Counter[str] = Counter()


def crash_point(name: str) -> None:
    """Die here if a test armed this point."""
    armed = os.environ.get("REENACT_CRASH_AT")
    if armed is None:
        return
    wanted, _, nth = armed.partition(":")
    if wanted != name:
        return
    _passed[name] += 1
    if _passed[name] == int(nth or 1):
        os.kill(os.getpid(), signal.SIGKILL)
