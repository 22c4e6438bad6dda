"""Runs train.py in the box, as it is or with its training taken out, and writes down what it saw.

    python .reenact/observe.py --seed 0  <  {"mode": "plain" | "no-updates" | "permuted-labels", "word": ...}

`no-updates`: whatever an optimizer of torch or Keras, a loop of the program's own over parameters with
gradients, or `update(model, batch)` of model.py changes, is put back; state, gradients, random numbers and
return values are as usual. `permuted-labels`: while a model trains, the rows of what it gives are permuted,
so that predictions and labels no longer belong together; for `update` the parts of the batch are permuted.

Leaves `result-WORD.json`, made new and last; the process ends at once after it.
Covered: what a program prints or writes cannot become our result, whose name it does not know.
Not covered: a program that takes this process apart (frames, memory, torch's own functions). It runs in the
same process, may notice that it is observed, and may behave otherwise then: so its metrics must be those of
a run without us, and a metric of a known family must follow from predictions that were seen.
"""

from __future__ import annotations

import atexit
import functools
import json
import math
import os
import runpy
import sys
import traceback
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact.paper.measure.inside import frameworks
    from reenact.paper.measure.inside.observer import Observer, observe_update
else:
    import frameworks
    from observer import Observer, observe_update

PROGRAM = "train.py"
OWN = ("frameworks", "observer", "predictions", "quantities")


class AfterImport(MetaPathFinder):
    """Calls a function with a module as soon as that was imported."""

    def __init__(
        self,
        waiting: dict[str, Callable[[Any], None]],
    ) -> None:
        self.waiting = waiting

    def find_spec(
        self,
        fullname: str,
        path: Any = None,
        target: Any = None,
    ) -> Any:
        """The spec that the other finders give, with a loader that calls back."""
        then = self.waiting.pop(fullname, None)
        if then is None:
            return None
        for finder in sys.meta_path:
            spec = None
            if finder is not self:
                spec = finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                execute = functools.partial(_executed, spec.loader.exec_module, then)
                spec.loader.exec_module = execute  # type: ignore[method-assign]
                return spec
        return None


def _executed(
    execute: Callable[[Any], None],
    then: Callable[[Any], None],
    module: Any,
) -> None:
    execute(module)
    then(module)


def run_program(arguments: list[str]) -> int:
    """train.py as the main program; its exit code."""
    sys.argv[:] = [PROGRAM, *arguments]
    sys.path[0] = str(Path.cwd())
    try:
        runpy.run_path(PROGRAM, run_name="__main__")
    except SystemExit as leaving:
        code = leaving.code
        if isinstance(code, str):
            sys.stderr.write(f"{code}\n")
        if isinstance(code, int):
            return code
        return int(code is not None)
    except BaseException:  # noqa: BLE001 - whatever it raises ends it
        traceback.print_exc()
        return 1
    return 0


def _finite(value: Any) -> Any:
    """JSON has no NaN: none stands for it."""
    if isinstance(value, dict):
        return {str(name): _finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def main() -> None:
    """Read the task, run the program, write what was seen, end."""
    task = json.loads(sys.stdin.buffer.read())
    os.dup2(
        os.open(os.devnull, os.O_RDONLY),
        0,
    )
    result = Path.cwd() / f"result-{task.pop('word')}.json"
    observer = Observer(task["mode"])
    for name in OWN:
        # A project may have modules of these names.
        sys.modules.pop(name, None)
    waiting: dict[str, Callable[[Any], None]] = {
        "torch": lambda _: frameworks.observe_torch(observer),
        "model": lambda module: observe_update(observer, module),
        frameworks.KERAS_OPTIMIZER: lambda module: frameworks.observe_keras_optimizer(
            observer, module
        ),
        frameworks.KERAS_LAYER: lambda module: frameworks.observe_keras_layer(observer, module),
    }
    sys.meta_path.insert(0, AfterImport(waiting))
    code = run_program(sys.argv[1:])
    atexit._run_exitfuncs()
    text = json.dumps(_finite(observer.report())).encode()
    sys.stdout.flush()
    sys.stderr.flush()
    handle = os.open(
        result,
        os.O_WRONLY | os.O_CREAT | os.O_EXCL,
        0o600,
    )
    os.write(handle, text)
    # At once: nothing of the program's own (threads, exit handlers) may follow.
    os._exit(code)


if __name__ == "__main__":
    main()
