"""Runs a training script with what the published tools do: after every batch, write all weights and activations.

    python dump.py torch|keras FOLDER SCRIPT

Kinder than they are: the last eight batches are kept instead of all, so that the disk does not fill.
"""

import runpy
import sys
from pathlib import Path

import numpy as np

KEPT = 8


class Dump:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.batches = 0

    def write(self, arrays):
        np.savez(self.folder / f"batch-{self.batches % KEPT}.npz", *arrays)
        self.batches += 1


def watch_torch(dump):
    """A loop hook: outputs of every module, then weights and gradients when the optimiser has moved."""
    import torch
    from torch.nn.modules.module import register_module_forward_hook
    from torch.optim.optimizer import register_optimizer_step_post_hook

    outputs = []

    def after_forward(module, inputs, output):
        if isinstance(output, torch.Tensor):
            outputs.append(output.detach().cpu().numpy().copy())

    def after_step(optimizer, args, kwargs):
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        weights = [p.detach().cpu().numpy().copy() for p in parameters]
        gradients = [p.grad.detach().cpu().numpy().copy() for p in parameters if p.grad is not None]
        dump.write([*outputs, *weights, *gradients])
        outputs.clear()

    register_module_forward_hook(after_forward)
    register_optimizer_step_post_hook(after_step)


def watch_keras(dump):
    """A callback: `get_weights` of every layer, and the outputs of every layer for the batch, computed anew."""
    import keras

    class Callback(keras.callbacks.Callback):
        def __init__(self, inputs, size):
            super().__init__()
            self.inputs, self.size, self.inner = inputs, size, None

        def on_train_batch_end(self, batch, logs=None):
            if self.inner is None:
                outputs = [layer.output for layer in self.model.layers]
                self.inner = keras.Model(self.model.inputs, outputs)
            seen = self.inner(self.inputs[batch * self.size : (batch + 1) * self.size], training=False)
            activations = [keras.ops.convert_to_numpy(output) for output in seen]
            weights = [array for layer in self.model.layers for array in layer.get_weights()]
            dump.write([*activations, *weights])

    fit = keras.Model.fit

    def naive_fit(model, x=None, y=None, batch_size=None, **others):
        callbacks = [*(others.pop("callbacks", None) or []), Callback(x, batch_size or 32)]
        return fit(model, x, y, batch_size=batch_size, callbacks=callbacks, **others)

    keras.Model.fit = naive_fit


def main(framework, folder, script):
    if framework == "keras":
        import os

        os.environ.setdefault("KERAS_BACKEND", "torch")
        watch_keras(Dump(folder))
    else:
        watch_torch(Dump(folder))
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
