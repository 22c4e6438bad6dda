"""Who may start processes, and a hook that refuses all others while tests run.

test_process_fence.py reads the texts for it. The hook sees what no text shows: a process that a
library starts on the way (`uuid`, `platform` and joblib ask other programs), or a function that was
reached by a computed name. Not seen: threads of libraries, and calls below Python.

Stands alone: the warm interpreter of the commands takes it, too.
"""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
SOURCES = TESTS.parent / "src" / "reenact"
BENCHMARKS = TESTS.parent / "benchmarks"
OWNERS = {
    "host_program.py": "starts every program on the host",
    "own_process.py": "becomes reenact itself",
    "api/linting.py": "forks itself to read many files; starts no program",
    "sandbox/tiers/reaper.py": "is process 1 of a box without namespaces; stands alone",
}
INJECTED = {
    "probe/inject": "runs in the user's program",
    "trials/inject": "runs in the user's interpreter: the fork server of the trials",
    "bug/inside": "runs in the sandbox",
    "claims/inside": "runs in the sandbox",
    "demo/cases": "examples, which run in the sandbox or as the user's program",
}
BY_LIBRARY = {
    "trials/ray.py": "starts a cluster of Ray, with what ray_start.py gives it",
}
EVENTS = {
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "pty.spawn",
}


def is_owner(name):
    """Whether a file of the package, by its path there, may start a process."""
    return name in OWNERS or any(name.startswith(f"{folder}/") for folder in INJECTED)


def starter(frame):
    """The innermost file and line of ours on whose behalf something is done.

    None for what tests and benchmarks start themselves: the product's command line may be their
    caller.
    """
    while frame is not None:
        file = Path(frame.f_code.co_filename).resolve()
        if file.is_relative_to(SOURCES):
            return file.relative_to(SOURCES).as_posix(), frame.f_lineno
        if file.is_relative_to(TESTS) or file.is_relative_to(BENCHMARKS):
            return None
        frame = frame.f_back
    return None


def refuse(event, arguments):
    """The audit hook."""
    if event not in EVENTS:
        return
    found = starter(sys._getframe(1))
    if found is not None and not is_owner(found[0]) and found[0] not in BY_LIBRARY:
        raise AssertionError(f"{found[0]}:{found[1]} starts a process: {event} {arguments[:2]!r}")


def watch_starts():
    """From now on, in this process and its forks."""
    sys.addaudithook(refuse)
