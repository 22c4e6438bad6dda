"""Leaf shapes from their outlines (radius at 32 angles), Keras 3 with a train_step of our own on the torch backend."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch
from keras import layers

keras.utils.set_random_seed(88)
SPECIES = 5


def outlines(n, seed):
    g = np.random.default_rng(seed)
    y = g.integers(0, SPECIES, n)
    angle = np.linspace(0, 2 * np.pi, 32, endpoint=False)[None]
    lobes = np.array([2, 3, 4, 5, 6])[y][:, None]
    depth = g.uniform(0.15, 0.35, (n, 1))
    turn = g.uniform(0, 2 * np.pi, (n, 1))
    r = 1 + depth * np.cos(lobes * (angle + turn)) + g.normal(0, 0.12, (n, 32))
    return ((r - 1) / 0.2).astype("float32")[..., None], y.astype("int64")


class LeafModel(keras.Model):
    def __init__(self, width=32):
        super().__init__()
        self.conv1 = layers.Conv1D(width, 7, padding="same", activation="relu")
        self.pool = layers.MaxPooling1D(2)
        self.conv2 = layers.Conv1D(width, 5, padding="same", activation="relu")
        self.squash = layers.GlobalMaxPooling1D()
        self.out = layers.Dense(SPECIES)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.acc_tracker = keras.metrics.SparseCategoricalAccuracy(name="acc")

    @property
    def metrics(self):
        return [self.loss_tracker, self.acc_tracker]

    def call(self, x, training=False):
        x = self.pool(self.conv1(x))
        return self.out(self.squash(self.conv2(x)))

    def train_step(self, data):
        x, y = data
        logits = self(x, training=True)
        loss = self.compute_loss(x=x, y=y, y_pred=logits)
        loss.backward()

        trainable = list(self.trainable_weights)
        gradients = [w.value.grad for w in trainable]
        with torch.no_grad():
            self.optimizer.apply(gradients, trainable)
        return self._report(loss, y, logits)

    def test_step(self, data):
        x, y = data
        logits = self(x, training=False)
        return self._report(self.compute_loss(x=x, y=y, y_pred=logits), y, logits)

    def _report(self, loss, y, logits):
        self.loss_tracker.update_state(loss.detach())
        self.acc_tracker.update_state(y, logits.detach())
        return {m.name: m.result() for m in self.metrics}


x_train, y_train = outlines(1500, 1)
x_val, y_val = outlines(400, 2)

model = LeafModel()
model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=32, epochs=8, verbose=2)

guess = model.predict(x_val, verbose=0).argmax(1)
print(f"validation accuracy {np.mean(guess == y_val):.3f} (chance {1 / SPECIES:.2f})")
