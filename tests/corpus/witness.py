"""Runs corpus programs and notes what really happened in them: layers, where they were made, optimiser steps.

A server on standard input and output, one JSON request and one JSON answer a line: torch, keras and lightning are
imported once, and every program runs in a forked child of its own. It knows nothing of what is stated about the programs.
"""

import contextlib
import io
import json
import os
import runpy
import signal
import sys
import tempfile
import traceback
from pathlib import Path

LIMIT_SECONDS = 240


class Witness:
    """What one program did."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.made = {}
        self.kept = []
        self.called = []
        self.steps = 0
        self.rates = []
        self.batch_size = None

    def user_line(self, thing, frame):
        """The line in the program whose call made the thing: the first frame outside its own constructors."""
        while frame is not None:
            code = frame.f_code
            own = code.co_name == "__init__" and frame.f_locals.get(code.co_varnames[0]) is thing
            if not own and code.co_filename.startswith(self.folder):
                return code.co_filename[len(self.folder) + 1 :], frame.f_lineno
            frame = frame.f_back
        return None

    def note_made(self, thing):
        if id(thing) not in self.made:
            self.kept.append(thing)
            self.made[id(thing)] = self.user_line(thing, sys._getframe(2))

    def note_called(self, thing, inputs):
        if self.steps:
            return
        if self.batch_size is None:
            self.batch_size = next((rows for rows in map(rows_of, inputs) if rows), None)
        if not any(thing is seen for seen in self.called):
            self.called.append(thing)

    def note_step(self, rate):
        self.steps += 1
        self.rates = [*self.rates[:1], rate]

    def told(self):
        below = {id(thing): inside(thing) for thing in self.called}
        return {
            "layers": [
                {
                    "type": type(thing).__name__,
                    "place": self.made.get(id(thing)),
                    "leaf": not below[id(thing)],
                    "above": [type(other).__name__ for other in self.called if id(thing) in below[id(other)]],
                    "works": works(thing),
                }
                for thing in self.called
            ],
            "steps": self.steps,
            "rates": self.rates,
            "batch_size": self.batch_size,
        }


def rows_of(value):
    if isinstance(value, dict):
        return next((rows for rows in map(rows_of, value.values()) if rows), None)
    if isinstance(value, (list, tuple)):
        return next((rows for rows in map(rows_of, value) if rows), None)
    shape = getattr(value, "shape", None)
    return int(shape[0]) if shape and isinstance(shape[0], int) else None


def children(thing):
    """The layers inside a layer; Keras keeps metrics, variables and seeds there too, which are none."""
    import keras

    if isinstance(thing, keras.layers.Layer):
        layers = [child for child in thing._layers if isinstance(child, keras.layers.Layer)]
        return [child for child in layers if not type(child).__name__.endswith("Cell")]
    return list(thing.children())


def inside(thing):
    """The identities of all layers within a layer, at any depth."""
    return {id(child) for child in children(thing)}.union(*(inside(child) for child in children(thing)))


def works(thing):
    """Whether the corpus lists such a layer: it has parameters, or comes from a library and changes values."""
    silent = ("Flatten", "Reshape", "Concatenate", "Identity", "InputLayer", "Permute")
    kind = type(thing)
    if kind.__name__ in silent or kind.__name__.endswith(("Loss", "Cell")):
        return False
    return kind.__module__.startswith(("torch.nn", "keras.")) or any(True for _ in thing.parameters())


def listen(witness):
    import keras
    import torch
    from torch.nn.modules.module import register_module_forward_pre_hook
    from torch.optim.optimizer import register_optimizer_step_post_hook

    module_init, layer_init = torch.nn.Module.__init__, keras.layers.Layer.__init__
    layer_call, keras_apply = keras.layers.Layer.__call__, keras.optimizers.Optimizer.apply

    def new_module_init(self, *args, **kwargs):
        if not isinstance(self, keras.layers.Layer):
            witness.note_made(self)
        module_init(self, *args, **kwargs)

    def new_layer_init(self, *args, **kwargs):
        witness.note_made(self)
        layer_init(self, *args, **kwargs)

    def new_layer_call(self, *args, **kwargs):
        witness.note_called(self, args)
        return layer_call(self, *args, **kwargs)

    def new_apply(self, *args, **kwargs):
        rate = float(self.learning_rate)
        keras_apply(self, *args, **kwargs)
        witness.note_step(rate)

    torch.nn.Module.__init__ = new_module_init
    keras.layers.Layer.__init__ = new_layer_init
    keras.layers.Layer.__call__ = new_layer_call
    keras.optimizers.Optimizer.apply = new_apply
    register_module_forward_pre_hook(lambda module, inputs: witness.note_called(module, inputs))
    register_optimizer_step_post_hook(lambda opt, args, kwargs: witness.note_step(opt.param_groups[0]["lr"]))


def notebook_lines(path):
    """The code cells as one text, each line at its own number, and which cell and line that number stands for."""
    text, origin = [], {}
    for index, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        for number, line in enumerate("".join(cell["source"]).split("\n"), 1):
            text.append("" if line.startswith(("%", "!")) else line)
            origin[len(text)] = [index, number]
    return "\n".join(text), origin


def run_entry(folder, entry):
    """Runs it in this process as Python would; answers the origin of notebook lines."""
    sys.path[0] = str(folder)
    if entry[0] == "-m":
        sys.argv = entry[1:]
        runpy.run_module(entry[1], run_name="__main__", alter_sys=True)
        return {}
    path = folder / entry[0]
    sys.argv = [str(path), *entry[1:]]
    if path.suffix != ".ipynb":
        runpy.run_path(str(path), run_name="__main__")
        return {}
    text, origin = notebook_lines(path)
    exec(compile(text, str(path), "exec"), {"__name__": "__main__"})
    return origin


def child(folder, entry, limit, answer):
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.alarm(limit)
    os.chdir(folder)
    witness = Witness(folder)
    listen(witness)
    out, code, origin = io.StringIO(), 0, {}
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            origin = run_entry(folder, entry)
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            code = 1
            print(traceback.format_exc())
    told = {"code": code, "output": out.getvalue(), "origin": origin, **witness.told()}
    answer.write_text(json.dumps(told), encoding="utf-8")


def serve():
    import keras  # noqa: F401
    import lightning  # noqa: F401
    import torch  # noqa: F401
    import torchmetrics  # noqa: F401

    for line in sys.stdin:
        request = json.loads(line)
        with tempfile.TemporaryDirectory() as scratch:
            answer = Path(scratch) / "answer.json"
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                limit = request.get("limit", LIMIT_SECONDS)
                child(Path(request["folder"]).resolve(), request["entry"], limit, answer)
                os._exit(0)
            _, status = os.waitpid(pid, 0)
            told = answer.read_text(encoding="utf-8") if answer.exists() else json.dumps({"code": os.waitstatus_to_exitcode(status)})
        sys.stdout.write(told + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
