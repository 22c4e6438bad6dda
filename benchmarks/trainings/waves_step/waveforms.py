"""Classify short waveforms with a Keras model that has its own train_step (torch backend)."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch
from keras import layers

keras.utils.set_random_seed(55)

KINDS = ("sine", "square", "saw", "triangle", "noise")
LENGTH = 64


def synth(n, seed):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, LENGTH)
    kind = rng.integers(0, len(KINDS), n)
    freq = rng.uniform(2, 6, n)[:, None]
    phase = rng.uniform(0, 1, n)[:, None]
    cyc = (freq * t + phase) % 1.0
    waves = np.stack([
        np.sin(2 * np.pi * cyc),
        np.where(cyc < 0.5, 1.0, -1.0),
        2 * cyc - 1,
        4 * np.abs(cyc - 0.5) - 1,
        rng.normal(0, 0.7, cyc.shape),
    ])
    x = waves[kind, np.arange(n)] + rng.normal(0, 0.25, (n, LENGTH))
    return x[..., None].astype("float32"), kind.astype("int64")


class WaveClassifier(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.conv1 = layers.Conv1D(16, 7, strides=2, padding="same", activation="relu")
        self.conv2 = layers.Conv1D(32, 5, strides=2, padding="same", activation="relu")
        self.flatten = layers.Flatten()
        self.hidden = layers.Dense(48, activation="relu")
        self.logits = layers.Dense(len(KINDS))
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="acc")
        self.criterion = keras.losses.SparseCategoricalCrossentropy()

    def call(self, x, training=False):
        x = self.conv2(self.conv1(x))
        return self.logits(self.hidden(self.flatten(x)))

    @property
    def metrics(self):
        return [self.loss_tracker, self.acc]

    def train_step(self, data):
        x, y = data
        self.zero_grad()
        y_pred = self(x, training=True)
        loss = self.criterion(y, y_pred)
        loss.backward()
        trainable = list(self.trainable_weights)
        gradients = [w.value.grad for w in trainable]
        with torch.no_grad():
            self.optimizer.apply(gradients, trainable)
        self.loss_tracker.update_state(loss)
        self.acc.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        self.loss_tracker.update_state(self.criterion(y, y_pred))
        self.acc.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


def main():
    x_train, y_train = synth(2400, 0)
    x_val, y_val = synth(600, 1)
    model = WaveClassifier()
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    history = model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=8, batch_size=64, verbose=2)
    print("best val acc", round(max(history.history["val_acc"]), 4))
    pred = np.argmax(model.predict(x_val, verbose=0), axis=1)
    for k, name in enumerate(KINDS):
        print(f"  {name:9s} recall {np.mean(pred[y_val == k] == k):.3f}")


if __name__ == "__main__":
    main()
