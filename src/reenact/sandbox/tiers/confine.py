"""Runs one program under the package sandlock: the script that the tier `sandlock` starts below the reaper.

`python -I confine.py POLICY PROGRAM ARGS...`, where POLICY is a JSON file outside the program's reach. Once
the program is confined and runs, a file `confined` stands beside the policy. It ends as the program ends:
with its exit status, or by its signal.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

MARK = "confined"


def main(words: list[str]) -> None:
    """See the file's first lines."""
    import sandlock

    policy = Path(words[0])
    try:
        with sandlock.Sandbox(**json.loads(policy.read_text())).popen(words[1:]) as process:
            policy.with_name(MARK).touch()
            ended = process.wait()
    except (RuntimeError, ValueError, sandlock.SandlockError) as error:
        os.write(2, f"{error}\n".encode())
        os._exit(1)
    if ended.reason == sandlock.ExitReason.EXITED:
        os._exit(ended.exit_code & 0xFF)
    end_by(ended.signal if ended.signal > 0 else signal.SIGKILL)


def end_by(number: int) -> None:
    """End as the program ended: by the same signal."""
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


if __name__ == "__main__":
    main(sys.argv[1:])
