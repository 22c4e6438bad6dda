"""Runs one script in the box and writes down what really happened: not what the script prints.

Covered: the exception and its frames are read by this program, frames that only claim to be the
project's count as the script's, the result carries a word that was read and forgotten before the
script began. Not covered: a script that takes this process apart (frame and memory tricks); the
static rules refuse those.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import resource
import signal
import sys
import time
import types
import warnings
from functools import lru_cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact.bug.inside import judge
    from reenact.bug.inside.calls import Recorder
    from reenact.bug.inside.hands import HOOK, Hands
    from reenact.bug.inside.lines import Lines
    from reenact.bug.inside.reads import Reads
    from reenact.claims.inside.checked import checked
else:
    import judge
    from calls import Recorder
    from checked import checked
    from hands import HOOK, Hands
    from lines import Lines
    from reads import Reads

RESULT = "result-{}.json"
FRAME = ("whose", "file", "line", "function", "qualified")
OWN = ("judge", "calls", "checked", "digest", "genuine", "hands", "lines", "reads", "relations")
"""Modules of the watcher, which the script does not see."""
SEEDERS = {
    "numpy": "random.seed",
    "torch": "manual_seed",
    "tensorflow": "random.set_seed",
}


def main() -> None:
    """Read the task from the standard input and run the script once a seed, each in a child of
    its own.
    """
    task = json.loads(sys.stdin.buffer.read())
    os.dup2(
        os.open(os.devnull, os.O_RDONLY),
        0,
    )
    with open(task["script"], "rb") as source:
        text = source.read()
    script, project = os.path.abspath(task["script"]), os.path.abspath(task["project"])
    for name in task["seeded"]:
        # Once for all children: importing a framework takes longer than most scripts.
        importlib.import_module(name)
    sys.argv[:] = [script]
    sys.path[0:1] = [os.path.abspath(root) for root in task["roots"]]
    for name in OWN:
        sys.modules.pop(name, None)
    for seed, word in task.pop("words").items():
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _run(task, int(seed), word, text, script, project)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            # Killed from outside it says nothing: the box ends the same way, and is run again.
            os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0)


def _run(
    task: dict[str, Any], seed: int, word: str, text: bytes, script: str, project: str
) -> None:
    """Run the script and write what happened; this process ends here."""
    result = os.path.abspath(RESULT.format(seed))
    os.mkdir(f"run-{seed}")
    os.chdir(f"run-{seed}")
    check = task["check"]
    if task["stubs"]:
        sys.meta_path.append(StubFinder(task["stubs"]))
    with_hook = task["mode"] in ("hands", "hands-alone")
    owner = lru_cache(maxsize=None)(lambda file: judge.where(file, project, script))
    hands = Hands(owner, alone=task["mode"] == "hands-alone")
    reads = Reads(project, script, lent=lambda: hands.active)
    warned = (
        _record_warnings(project, script, hands) if check and check["relation"] == "warns" else []
    )
    random.seed(seed)
    for name in task["seeded"]:
        attrgetter(SEEDERS[name])(importlib.import_module(name))(seed)
    found: dict[str, Any] = {}
    namespace: dict[str, Any] = {
        "__name__": "__main__",
        "__file__": script,
        "__builtins__": __builtins__,
    }
    if with_hook:
        namespace[HOOK] = hands.hand
    recorder = _recorder(task["mode"], project, script)
    reads.install()
    began = time.process_time()
    try:
        program = (
            hands.hooked(text, script)
            if with_hook
            else compile(text, script, "exec", dont_inherit=True)
        )
        if recorder is not None:
            recorder.start()
        exec(program, namespace)  # noqa: S102
        found["ended"] = "returned"
    except SystemExit as leaving:
        found.update(ended="exited", message=_clean(str(leaving.code)))
    except BaseException as error:  # noqa: BLE001 - whatever it raises is what we are here for
        found.update(_described(error, project, script), ended="raised", made=hands.made(error))
    used = {"slower": time.process_time() - began}
    used["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    reads.end()
    found["noticed"] = _clean(reads.noticed)
    found["plain"] = _clean(hands.plain)
    found.update(_recorded(recorder, namespace if found["ended"] == "returned" else {}))
    if check and found["ended"] == "returned":
        found.update(_checked(check, namespace, warned, used))
    known = {
        name: str(getattr(sys.modules.get(name), "__version__", "")) for name in task["seeded"]
    }
    versions = {
        "python": ".".join(map(str, sys.version_info[:3])),
        **known,
    }
    found["versions"] = {name: version for name, version in versions.items() if version}
    found["imported"] = _places(task["modules"], project)
    _write({**found, "word": word}, result)


def _recorder(mode: str, project: str, script: str) -> Recorder | Lines | None:
    """What writes down more than the outcome."""
    if mode == "calls":
        return Recorder(project, script)
    return Lines(project) if mode == "lines" else None


def _recorded(recorder: Recorder | Lines | None, left: dict[str, Any]) -> dict[str, Any]:
    """What was written down. A script that was ended in between has not left what it would have."""
    if recorder is None:
        return {}
    if isinstance(recorder, Lines):
        return {"executed": recorder.stop()}
    return {"calls": recorder.stop(left)}


def _places(names: list[str], project: str) -> dict[str, str]:
    """From which file or folder each of these modules was imported, where it was: below the
    project as a relative path.
    """
    root = os.path.realpath(project)
    places = {}
    for name in names:
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None) or next(
            iter(getattr(module, "__path__", ())), None
        )
        if file is None:
            continue
        place = os.path.realpath(str(file))
        if place.startswith(root + os.sep) and "site-packages" not in place:
            place = os.path.relpath(place, root)
        places[name] = _clean(place)
    return places


def _described(
    error: BaseException,
    project: str,
    script: str,
) -> dict[str, Any]:
    frames = judge.frames_of(error.__traceback__, project, script)[1:]
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    place = (innermost.tb_frame.f_code.co_filename, innermost.tb_lineno) if innermost else ("", 0)
    missing = getattr(error, "name", None) or "" if isinstance(error, ModuleNotFoundError) else ""
    shown = [dict(zip(FRAME, frame)) for frame in frames[-60:]]  # noqa: B905 - of the same length
    raised = {
        "classes": [one.__name__ for one in type(error).__mro__],
        "message": _clean(str(error)),
    }
    place_of = {
        "frames": shown,
        "blamed": judge.blamed(frames),
        "refused": judge.refuses(*place),
    }
    return {**raised, **place_of, "missing": missing}


def _checked(
    check: dict[str, Any],
    namespace: dict[str, Any],
    warned: list[str],
    used: dict[str, float],
) -> dict[str, Any]:
    """Whether the relation holds, and what was seen; `problem` when that cannot be computed."""
    relation = check["relation"]
    if relation == "warns":
        wanted = [" ".join(part.split()).lower() for part in check["text"].split("*")]
        fitting = [text for text in warned if judge.in_order(wanted, text)]
        saw = (fitting or warned or ["no warning from project code"])[0]
        return {"holds": bool(fitting), "saw": saw[:300]}
    if relation in used:
        amount = used[relation]
        return {
            "holds": amount > check["number"],
            "saw": f"{amount:.4g}",
            "number": amount,
        }
    return checked(check, namespace)


def _clean(text: str) -> str:
    """Without half characters, which no reader of JSON takes, and not without end."""
    return text[:4000].encode("utf-8", "replace").decode("utf-8")


def _record_warnings(project: str, script: str, hands: Hands) -> list[str]:
    """Warnings that project code gives, also where they point at the caller."""
    warned: list[str] = []

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        if (
            judge.nearest_owner(
                sys._getframe(1),
                project,
                script,
            )
            == "project"
            and not hands.active
        ):
            warned.append(f"{category.__name__}: {message}")

    warnings.simplefilter("always")
    warnings.showwarning = show
    return warned


def _write(found: dict[str, Any], result: str) -> None:
    sys.stdout.flush()
    text = json.dumps(found, allow_nan=False, default=str).encode(
        "utf-8",
        "replace",
    )
    if os.path.lexists(result):
        os.unlink(result)
    handle = os.open(
        result,
        os.O_WRONLY | os.O_CREAT | os.O_EXCL,
        0o600,
    )
    os.write(handle, text)
    # At once: nothing of the script's own (threads, exit handlers) may follow.
    os._exit(0)


class Stub:
    """What a stub module holds under every name: it may be named, subclassed and passed on,
    never called.
    """

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("this module is a stub: it is not installed")

    def __getattr__(self, name: str) -> Any:
        return _stub_of(name)


class StubFinder(MetaPathFinder, Loader):
    """Empty modules for those that are not installed and that the user gave up. Asked last, so that a module
    that is there is taken as it is."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        if fullname.split(".")[0] not in self.names:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        made = types.ModuleType(spec.name)
        vars(made)["__getattr__"] = _stub_of
        return made

    def exec_module(self, module: types.ModuleType) -> None: ...


def _stub_of(name: str) -> Stub:
    if name.startswith("__"):
        raise AttributeError(name)
    return Stub()


if __name__ == "__main__":
    main()
