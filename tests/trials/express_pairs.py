"""Trains every pair twice in this process, by Keras and by the bare loop, and prints how far they are apart.

Run by test_express.py, with the folders to import from, in a process of its own: the bare loop takes the
place of Keras's `fit` for good.
"""

from __future__ import annotations

import json
import sys
import tempfile

import keras
import numpy as np
from keras import layers as la
from keras import optimizers as opt

RATES = opt.schedules.ExponentialDecay(0.05, 4, 0.8)
OPTIMIZERS = {
    "sgd": lambda: opt.SGD(0.1),
    "momentum": lambda: opt.SGD(0.05, momentum=0.9),
    "nesterov-clipnorm": lambda: opt.SGD(0.05, momentum=0.9, nesterov=True, clipnorm=0.5),
    "adam": lambda: opt.Adam(0.01),
    "amsgrad-global-clipnorm": lambda: opt.Adam(0.01, amsgrad=True, global_clipnorm=0.3),
    "adamw": lambda: opt.AdamW(0.01, weight_decay=0.1),
    "rmsprop": lambda: opt.RMSprop(0.01),
    "rmsprop-centred-clipvalue": lambda: opt.RMSprop(0.01, momentum=0.5, centered=True, clipvalue=0.1),
    "adagrad": lambda: opt.Adagrad(0.1),
    "adadelta": lambda: opt.Adadelta(1.0),
    "adamax": lambda: opt.Adamax(0.01),
    "nadam": lambda: opt.Nadam(0.01),
    "schedule": lambda: opt.Adam(RATES),
    "decay": lambda: opt.SGD(0.1, weight_decay=0.1),
}
DENSE = (12,)
IMAGE = (8, 8, 2)
SEQUENCE = (7, 3)
BOTH = keras.regularizers.L1L2(0.01, 0.02)
LAYERS = {
    "dropout": (DENSE, lambda: [la.Dense(8, "tanh"), la.Dropout(0.3), la.Dense(4, use_bias=False)]),
    "dropout-norm": (DENSE, lambda: [la.Dense(8, "relu"), la.BatchNormalization(), la.Dropout(0.3)]),
    "regularised": (DENSE, lambda: [la.Dense(8, "tanh", kernel_regularizer=BOTH), la.Dense(4)]),
    "activations": (
        DENSE,
        lambda: [la.Dense(6, name) for name in ("elu", "selu", "gelu", "silu", "softplus", "hard_sigmoid")]
        + [la.LeakyReLU(0.1), la.Activation("relu"), la.ReLU(), la.Reshape((3, 2)), la.Flatten()],
    ),
    "image": (
        IMAGE,
        lambda: [la.Conv2D(4, 3, padding="same", activation="relu"), la.MaxPooling2D(2),
                 la.Conv2D(4, 2, strides=2, padding="same"), la.AveragePooling2D(2), la.Flatten()],
    ),
    "image-norm": (IMAGE, lambda: [la.Conv2D(4, 3), la.BatchNormalization(), la.GlobalAveragePooling2D()]),
    "sequence": (SEQUENCE, lambda: [la.Conv1D(4, 2), la.MaxPooling1D(2), la.LSTM(5)]),
    "gru": (SEQUENCE, lambda: [la.GRU(4, return_sequences=True), la.SimpleRNN(3)]),
    "words": ((5,), lambda: [la.Embedding(9, 4), la.GlobalMaxPooling1D()]),
}  # fmt: skip
LOSSES = {
    "mean_squared_error": (1, "sigmoid", ["mae"]),
    "mean_absolute_error": (1, None, ["mse"]),
    "binary_crossentropy": (1, "sigmoid", ["accuracy"]),
    "sparse_categorical_crossentropy": (3, "softmax", ["accuracy"]),
    "categorical_crossentropy": (3, "sigmoid", ["accuracy", keras.metrics.AUC(name="auc")]),
    "hinge": (1, "tanh", []),
    "squared_hinge": (1, "tanh", []),
    "poisson": (1, "softplus", []),
    "kl_divergence": (3, "softmax", []),
    "log_cosh": (1, None, []),
    "huber": (1, None, ["mae"]),
    "mean_absolute_percentage_error": (1, None, []),
    "mean_squared_logarithmic_error": (1, "softplus", []),
}
NAMED = {
    "from-logits": (lambda: keras.losses.SparseCategoricalCrossentropy(from_logits=True), 3),
    "binary-from-logits": (lambda: keras.losses.BinaryCrossentropy(from_logits=True), 1),
    "smoothed": (lambda: keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1), 3),
}


COUNT = 42
"""Samples; of any batch size here the last batch is smaller."""


def data(shape, classes, loss):
    chance = np.random.default_rng(0)
    x = chance.normal(size=(COUNT, *shape)).astype("float32")
    if shape == (5,):
        x = chance.integers(0, 9, size=(COUNT, 5))
    y = (x.reshape(COUNT, -1).sum(1) > 0).astype("int64") + (classes == 3) * (np.arange(COUNT) % 7 == 0)
    if "percentage" in loss:
        y = y + 1.0
    one_hot = classes == 3 and "sparse" not in loss
    return x, keras.utils.to_categorical(y, 3) if one_hot else y


def train(shape, body, loss, out, optimizer, wishes):
    classes, activation, metrics = out
    keras.utils.set_random_seed(3)
    name = getattr(loss, "name", loss)
    x, y = data(shape, classes, name)
    model = keras.Sequential([keras.Input(shape), *body(), la.Dense(classes, activation)])
    model.compile(optimizer=optimizer(), loss=loss, metrics=metrics)
    runs = [model.fit(x, y, batch_size=16, validation_split=0.2, verbose=0, **wishes)]
    told = model.evaluate(x, y, verbose=0, return_dict=True)
    if metrics == ["accuracy"]:
        # What the optimiser remembers must have gone back into Keras's own variables.
        runs.append(model.fit(x, y, epochs=1, batch_size=32, verbose=0))
    histories = [value for run in runs for values in run.history.values() for value in values]
    weights = [weight.ravel() for weight in model.get_weights()]
    return sorted(told), np.concatenate([histories, [told[key] for key in sorted(told)], *weights])


def pairs():
    three = (3, "softmax", ["accuracy"])
    sparse = "sparse_categorical_crossentropy"
    dense = lambda: [la.Dense(6, "relu")]  # noqa: E731 - a row of the table
    for name, make in OPTIMIZERS.items():
        yield f"optimizer {name}", (DENSE, dense, sparse, three, make, {"epochs": 2})
    for name, (shape, body) in LAYERS.items():
        yield f"layers {name}", (shape, body, sparse, three, OPTIMIZERS["momentum"], {})
    for name, out in LOSSES.items():
        yield f"loss {name}", (DENSE, dense, name, out, OPTIMIZERS["sgd"], {})
    for name, (make, classes) in NAMED.items():
        yield f"loss {name}", (DENSE, dense, make(), (classes, None, []), OPTIMIZERS["sgd"], {})
    weighted = {"class_weight": {0: 1.0, 1: 3.0, 2: 0.5}, "epochs": 2}
    yield "class weights", (DENSE, dense, sparse, three, OPTIMIZERS["adam"], weighted)
    yield "no shuffling", (DENSE, dense, sparse, three, OPTIMIZERS["adam"], {"shuffle": False, "epochs": 2})


class Keeping:
    """Stands where trainings are set aside: keeps what it is shown, and lets them train by themselves."""

    def __init__(self):
        self.captured = None

    def __call__(self, training, epochs, validation):
        if self.captured is not None:
            import torch
            from reenact_express.parking import capture

            state = torch.get_rng_state()
            self.captured.append(capture(training, epochs, validation))
            torch.set_rng_state(state)


def stacked(keeping, seeds, shape, body, optimizer):
    """The last validation losses of the same trainings, alone and side by side."""
    import torch
    from reenact_express import ensemble, parking

    keeping.captured, alone = [], []
    x, y = data(shape, 3, "sparse")
    for seed in range(seeds):
        keras.utils.set_random_seed(seed)
        model = keras.Sequential([keras.Input(shape), *body(), la.Dense(3, "softmax")])
        model.compile(optimizer(0.01 * (1 + seed % 3)), "sparse_categorical_crossentropy")
        history = model.fit(x, y, epochs=3, batch_size=16, validation_data=(x, y), verbose=0)
        alone.append(history.history["val_loss"][-1])
    assert len({parking.signature_of(one) for one in keeping.captured}) == 1
    trained = ensemble.Stack(torch, keeping.captured, torch.device("cpu")).train()
    keeping.captured = None
    return alone, [float(one["validation_losses"][-1]) for one in trained]


def all_stacked(keeping):
    norm = [la.Dense(8, "relu", kernel_regularizer=BOTH), la.BatchNormalization()]
    image = [la.Conv2D(4, 3, activation="relu"), la.MaxPooling2D(2), la.Flatten()]
    rows = {
        "norm adam": (4, DENSE, norm, opt.Adam),
        "image nadam": (4, IMAGE, image, opt.Nadam),
        "words rmsprop": (4, (5,), [la.Embedding(9, 4), la.GRU(3)], lambda r: opt.RMSprop(r, clipnorm=0.5)),
        "dropout": (12, DENSE, [la.Dense(8, "relu"), la.Dropout(0.3)], opt.Adam),
    }
    found = {}
    for name, (seeds, shape, body, optimizer) in rows.items():
        configs = [type(layer).from_config for layer in body], [layer.get_config() for layer in body]
        fresh = lambda made=configs: [make(dict(given)) for make, given in zip(*made, strict=True)]  # noqa: E731
        found[name] = stacked(keeping, seeds, shape, fresh, optimizer)
    return found


def main():
    before = {name: train(*row) for name, row in pairs()}
    sys.path += sys.argv[1:]
    from reenact_express.install import install

    keeping = Keeping()
    with tempfile.NamedTemporaryFile("r") as note:
        install(keras, note.name, keeping)
        after = {name: train(*row) for name, row in pairs()}
        side_by_side = all_stacked(keeping)
        told = json.load(note)
    found = {}
    for name, (logs, numbers) in before.items():
        apart = np.abs(numbers - after[name][1]) / (1.0 + np.abs(numbers))
        found[name] = {"apart": float(apart.max()), "logs": logs == after[name][0]}
    json.dump({"pairs": found, "told": told, "stacked": side_by_side}, sys.stdout)


if __name__ == "__main__":
    main()
