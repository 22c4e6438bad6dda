"""Recognise which of many synthetic tones is played; Keras model with its own train_step (torch backend)."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import torch
from keras import layers

keras.utils.set_random_seed(19)
TONES = 48
SAMPLES = 96


def play(n, rng):
    tone = rng.integers(TONES, size=n)
    freq = 3.0 + 0.6 * tone
    phase = rng.uniform(0, 2 * np.pi, size=n)
    t = np.linspace(0, 1, SAMPLES)
    wave = np.sin(2 * np.pi * freq[:, None] * t + phase[:, None])
    wave = wave * rng.uniform(0.6, 1.4, size=(n, 1)) + 0.2 * rng.standard_normal((n, SAMPLES))
    spectrum = np.abs(np.fft.rfft(wave * np.hanning(SAMPLES), n=2 * SAMPLES))
    return np.log1p(spectrum).astype("float32"), tone.astype("int64")


class ToneModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.Sequential([
            layers.Dense(96, activation="relu"),
            layers.Dense(96, activation="relu"),
        ])
        self.classifier = layers.Dense(TONES, activation="softmax")
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="accuracy")

    def call(self, x):
        return self.classifier(self.body(x))

    @property
    def metrics(self):
        return [self.loss_tracker, self.acc]

    def train_step(self, data):
        x, y = data
        self.zero_grad()
        y_pred = self(x, training=True)
        loss = self.loss_fn(y, y_pred)
        loss.backward()
        weights = list(self.trainable_weights)
        gradients = [v.value.grad for v in weights]
        with torch.no_grad():
            self.optimizer.apply(gradients, weights)
        return self.track(loss, y, y_pred)

    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        return self.track(self.loss_fn(y, y_pred), y, y_pred)

    def track(self, loss, y, y_pred):
        self.loss_tracker.update_state(loss)
        self.acc.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    x_train, y_train = play(4000, rng)
    x_val, y_val = play(1000, rng)
    mean, std = x_train.mean(0), x_train.std(0)
    x_train, x_val = (x_train - mean) / std, (x_val - mean) / std

    model = ToneModel()
    model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.1, momentum=0.9))
    model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=64, epochs=6, verbose=2)
