"""The parent of a program that runs without a PID namespace: sees to it that nothing of it is left.

Run as a script by `plain_launch`, never imported by it: `python -I -S reaper.py PARENT STATUS GATE
PROGRAM ARGS...`. It waits for a byte on the descriptor GATE, starts the program, reports its number
and its end on STATUS in the words of bubblewrap, and kills every descendant when the program ends,
when it is asked to (SIGTERM), and when the process PARENT dies. Orphans come back to it
(PR_SET_CHILD_SUBREAPER), so a daemon is found too. Not covered: a program of the same user that
kills the reaper itself.

`python -I reaper.py confine POLICY PROGRAM ARGS...` is what the tier `sandlock` starts below it:
the program under the package sandlock, where POLICY is a JSON file outside the program's reach.
Once the program is confined and runs, a file `confined` is next to the policy. It ends as the
program ends: with its exit status, or by its signal.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_WATCHED = {signal.SIGCHLD, signal.SIGTERM}
CONFINE = "confine"
CONFINED = "confined"


def confine(policy: str, program: list[str]) -> None:
    """See the file's first lines."""
    import json
    from pathlib import Path

    import sandlock

    try:
        with sandlock.Sandbox(**json.loads(Path(policy).read_text())).popen(program) as process:
            Path(policy).with_name(CONFINED).touch()
            ended = process.wait()
    except (RuntimeError, ValueError, sandlock.SandlockError) as error:
        os.write(2, f"{error}\n".encode())
        os._exit(1)
    if ended.reason == sandlock.ExitReason.EXITED:
        os._exit(ended.exit_code & 0xFF)
    number = ended.signal if ended.signal > 0 else signal.SIGKILL
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def main(words: list[str]) -> None:
    """See the file's first lines."""
    if words[0] == CONFINE:
        confine(words[1], words[2:])
        return
    parent = int(words[0])
    status = int(words[1])
    gate = int(words[2])
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    # A signal when the parent dies; descendants that lose their parent become ours.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(
        _SET_PARENT_DEATH_SIGNAL,
        int(signal.SIGTERM),
        0,
        0,
        0,
    )
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.getppid() != parent or not os.read(gate, 1):
        return
    os.close(gate)
    os.set_inheritable(status, False)
    child = start(words[3:])
    os.write(status, b'{ "child-pid": %d }\n' % child)
    ended = wait(child)
    kill_all(child)
    if ended is not None:
        killed = os.WIFSIGNALED(ended)
        code = os.waitstatus_to_exitcode(ended)
        os.write(
            status,
            b'{ "signal": %d }\n' % -code if killed else b'{ "exit-code": %d }\n' % code,
        )


def start(program: list[str]) -> int:
    """Fork and become the program, in a session of its own."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
        # The interpreter ignores SIGPIPE; a program starts with the default.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvp(program[0], program)  # noqa: S606 - the program itself
    except OSError as error:
        os.write(
            2,
            f"{program[0]}: {error.strerror}\n".encode(),
        )
    os._exit(127)


def wait(child: int) -> int | None:
    """Reap until the program has ended; none when we were asked to end it."""
    while True:
        number, ended = os.waitpid(-1, os.WNOHANG)
        if number == child:
            return ended
        if not number and signal.sigwait(_WATCHED) == signal.SIGTERM:
            return None


def kill_all(child: int) -> None:
    """Kill children until there are none: the children of a killed one become ours and are next."""
    while True:
        found = children()
        for number in [-child] if found is None else found:
            try:
                os.kill(number, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def children() -> list[int] | None:
    """The numbers of our own children; none where the system does not list them, and the group
    must do.
    """
    try:
        with open("/proc/self/task/%d/children" % os.getpid()) as listed:  # noqa: PTH123, UP031 - no imports beyond need
            return [int(word) for word in listed.read().split()]
    except OSError:
        return None


if __name__ == "__main__":
    main(sys.argv[1:])
