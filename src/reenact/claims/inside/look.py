"""Runs the script of a check in the box, once a seed, and writes down what it left.

Covered: what the script prints is not believed; the relation is computed here, from values, after
the script has ended; the result carries a word that was read and forgotten before the script began.
Not covered: a script that takes this process apart, which the static rules refuse.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import sys
import traceback
from typing import TYPE_CHECKING, Any

from reenact_trials_tree import Tree

if TYPE_CHECKING:
    from reenact.claims.inside import reach
    from reenact.claims.inside.checked import checked
else:
    import reach
    from checked import checked

RESULT = "seen-{}-{}.json"
OWN = ("reach", "checked", "genuine", "relations", "reenact_trials_tree")
"""Modules of the watcher; the script knows the first under another name."""
NAME = "reenact_reach"
SEEDED = ("numpy", "torch", "keras")


def main() -> None:
    """Read the task from the standard input; each look at each seed runs in a child of its own, on
    a fresh copy of the tree.
    """
    read = sys.stdin.buffer.read().decode("utf-8")
    # Where a tier has no namespaces, the work folder has another name than inside of the others.
    home = os.path.abspath(".")
    task = json.loads(read.replace(json.loads(read)["work"], home))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with open(task["script"], "rb") as source:
        text = source.read()
    here = os.path.dirname(os.path.abspath(task["script"]))
    sys.path[:] = [one for one in sys.path if os.path.abspath(one or ".") not in (here, home)]
    sys.path[0:0] = [os.path.normpath(os.path.join(task["root"], one)) for one in task["bases"]]
    reach.setup.root = task["root"]
    reach.setup.entry = os.path.join(task["root"], task["entry"])
    for name in OWN:
        sys.modules.pop(name, None)
    sys.modules[NAME] = reach
    tree = os.path.join(home, task["tree"])
    first = os.path.join(here, "first")
    os.rename(tree, first)
    made = Tree(first, tree)
    for name in task["imports"]:
        # Once for all children: importing a framework takes longer than most checks.
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    for look in task["looks"]:
        words = look.pop("seeds")
        for seed, word in words:
            made.restore()
            for name, body in look["files"].items():
                made.write(name, body.encode("utf-8", "surrogatepass"))
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                _run(task, look, seed, word, text)
            _, status = os.waitpid(child, 0)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
                # Killed from outside it says nothing: the box ends the same way, and is run again.
                os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0)


def _run(task: dict[str, Any], look: dict[str, Any], seed: int, word: str, text: bytes) -> None:
    """Run the script and write what it left; this process ends here."""
    result = os.path.abspath(RESULT.format(look["name"], seed))
    os.chdir(task["working"])
    reach.setup.arguments = tuple(look["arguments"])
    reach.setup.later = look["later"]
    _seed(seed)
    names: dict[str, Any] = {"__name__": "__check__", "__builtins__": __builtins__}
    names["SEED"] = seed
    found: dict[str, Any] = {}
    try:
        exec(compile(text, "check.py", "exec", dont_inherit=True), names)  # noqa: S102
        found["ended"] = "returned"
    except SystemExit as leaving:
        found |= {"ended": "exited", "message": _clean(str(leaving.code))}
    except BaseException as error:  # noqa: BLE001 - whatever it raises is what we are here for
        found |= {"ended": "raised", **_described(error)}
    found["reached"] = reach.setup.reached
    if found["ended"] == "returned":
        found |= checked(task["check"], names)
    _write({**found, "word": word}, result)


def _seed(seed: int) -> None:
    random.seed(seed)
    for name in SEEDED:
        library = sys.modules.get(name)
        if library is None:
            continue
        if name == "numpy":
            library.random.seed(seed)
        elif name == "torch":
            library.manual_seed(seed)
        else:
            library.utils.set_random_seed(seed)


def _described(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [one for one in frames if one.filename == "check.py"]
    inside = [one for one in frames if one.filename.startswith(reach.setup.root + os.sep)]
    last = (inside or ours or frames[1:])[-1:]
    return {
        "kind": type(error).__name__,
        "message": _clean(str(error)),
        "where": f"{os.path.basename(last[0].filename)}:{last[0].lineno}" if last else "",
        "unreached": type(error) is reach.NotReached,
    }


def _clean(text: str) -> str:
    """Without half characters, which no reader of JSON takes, and not without end."""
    return text[:600].encode("utf-8", "replace").decode("utf-8")


def _write(found: dict[str, Any], result: str) -> None:
    sys.stdout.flush()
    text = json.dumps(found, allow_nan=False, default=str).encode("utf-8", "replace")
    if os.path.lexists(result):
        os.unlink(result)
    handle = os.open(result, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(handle, text)
    # At once: nothing of the script's own (threads, exit handlers) may follow.
    os._exit(0)


if __name__ == "__main__":
    main()
