"""Runs one script in the box and writes down what really happened: not what the script prints.

Covered: the exception and its frames are read by this program, frames that only claim to be the project's
are told apart, the result carries a word that was read and forgotten before the script began.
Not covered: a script that takes this process apart (frame and memory tricks); the static rules refuse those.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import resource
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact.bug.inside import judge
    from reenact.bug.inside.stub import stand_in
else:
    import judge
    from stub import stand_in

RESULT = "result-{}.json"
RELATIONS = {
    "not-finite": judge.not_finite,
    "differs": judge.differs,
    "same": judge.is_same,
    "near": judge.near,
    "above": judge.above,
    "below": judge.below,
    "shape": judge.other_shape,
    "dtype": judge.other_dtype,
    "device": judge.other_device,
    "no-gradient": judge.no_gradient,
}


def main() -> None:
    """Read the task from the standard input and run the script once a seed, each in a child of its own."""
    task = json.loads(sys.stdin.buffer.read())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with open(task["script"], "rb") as source:
        text = source.read()
    script, project = os.path.abspath(task["script"]), os.path.abspath(task["project"])
    for name in task["seeded"]:
        # Once for all children: importing a framework takes longer than most scripts.
        importlib.import_module(name)
    sys.argv[:] = [script]
    sys.path[0:1] = [os.path.abspath(root) for root in task["roots"]]
    for name in ("judge", "stub"):
        sys.modules.pop(name, None)
    for seed, word in task.pop("words").items():
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _run(task, int(seed), word, text, script, project)
        os.waitpid(child, 0)
    os._exit(0)


def _run(task: dict[str, Any], seed: int, word: str, text: bytes, script: str, project: str) -> None:
    """Run the script and write what happened; this process ends here."""
    result = os.path.abspath(RESULT.format(seed))
    os.mkdir(f"run-{seed}")
    os.chdir(f"run-{seed}")
    stubbed = stand_in(task["stubs"])
    heard = _hear_warnings(project, script) if task["check"] and task["check"]["relation"] == "warns" else []
    _seed(seed, task["seeded"])
    found: dict[str, Any] = {"stubbed": stubbed}
    began = time.process_time()
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": script, "__builtins__": __builtins__}
    try:
        exec(compile(text, script, "exec", dont_inherit=True), namespace)  # noqa: S102
        found["ended"] = "returned"
    except SystemExit as leaving:
        found |= {"ended": "exited", "message": _clean(str(leaving.code))}
    except BaseException as error:  # noqa: BLE001 - whatever it raises is what we are here for
        found |= {"ended": "raised", **_told(error, project, script)}
    found["cpu_s"] = time.process_time() - began
    found["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if task["check"] and found["ended"] == "returned":
        found["check"] = _checked(task["check"], namespace, heard, found)
    found["versions"] = _versions(task["seeded"])
    found["word"] = word
    _write(found, result)


def _told(error: BaseException, project: str, script: str) -> dict[str, Any]:
    frames = judge.frames_of(error.__traceback__, project, script)[1:]
    return {
        "classes": [one.__name__ for one in type(error).__mro__],
        "message": _clean(str(error)),
        "frames": frames[-60:],
        "blamed": judge.blamed(frames),
        "missing": getattr(error, "name", None) or "" if isinstance(error, ModuleNotFoundError) else "",
    }


def _checked(
    check: dict[str, Any], namespace: dict[str, Any], heard: list[str], found: dict[str, Any]
) -> dict[str, Any]:
    """Whether the relation holds, and what was seen; `problem` when it cannot be told."""
    relation, number = check["relation"], check["number"]
    if relation == "warns":
        wanted = [" ".join(part.split()).lower() for part in check["text"].split("*")]
        said = [text for text in heard if judge.in_order(wanted, text)]
        return {"holds": bool(said), "saw": (said or heard or ["no warning from project code"])[0][:300]}
    if relation in ("slower", "memory"):
        used = found["cpu_s"] if relation == "slower" else found["peak_mib"]
        return {"holds": used > number, "saw": f"{used:.4g}", "number": used}
    if "observed" not in namespace:
        return {"holds": False, "problem": "the script ended without a top-level value named `observed`"}
    observed, reference = namespace["observed"], namespace.get("reference")
    if type(observed).__module__ == "__main__":
        return {
            "holds": False,
            "problem": "`observed` is an object of a class that the script defines",
        }
    try:
        shown = RELATIONS[relation](check, observed, reference)
        saw = f"observed {judge.short(observed)}"
        saw += f", reference {judge.short(reference)}" if "reference" in namespace else ""
    except Exception as error:  # noqa: BLE001 - a stranger's object may raise anything
        return {
            "holds": False,
            "problem": f"the check could not be computed: {type(error).__name__}: {error}",
        }
    single = float(observed) if _is_single(observed) else None
    return {"holds": shown, "saw": _clean(saw[:600]), "number": single if single == single else None}


def _clean(text: str) -> str:
    """Without half characters, which no reader of JSON takes, and not without end."""
    return text[:4000].encode("utf-8", "replace").decode("utf-8")


def _is_single(value: Any) -> bool:
    try:
        return abs(float(value)) < float("inf")
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return False


def _hear_warnings(project: str, script: str) -> list[str]:
    """Warnings that project code gives, also where they point at the caller."""
    heard: list[str] = []

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        frame = sys._getframe(1)
        while frame is not None and judge.where(frame.f_code.co_filename, project, script) == "library":
            frame = frame.f_back  # type: ignore[assignment]
        if frame is not None and judge.where(frame.f_code.co_filename, project, script) == "project":
            heard.append(f"{category.__name__}: {message}")

    warnings.simplefilter("always")
    warnings.showwarning = show
    return heard


def _seed(seed: int, names: list[str]) -> None:
    random.seed(seed)
    if "numpy" in names:
        import numpy

        numpy.random.seed(seed)
    if "torch" in names:
        import torch

        torch.manual_seed(seed)
    if "tensorflow" in names:
        import tensorflow  # type: ignore[import-untyped,unused-ignore]

        tensorflow.random.set_seed(seed)


def _versions(names: list[str]) -> dict[str, str]:
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in names:
        version = getattr(sys.modules.get(name), "__version__", "")
        if version:
            found[name] = str(version)
    return found


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
