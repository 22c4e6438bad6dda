"""Fill in missing survey answers with a Keras model whose train_step hides some of them; loss only where hidden."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import torch
from keras import layers

keras.utils.set_random_seed(73)
rng = np.random.default_rng(73)
FIELDS, LEVELS = 10, 5


def answers(n):
    """Five levels a field, driven by two opinions: rows are from a finite set, and popular ones repeat."""
    opinion = rng.normal(size=(n, 2))
    loading = np.stack([np.cos(np.linspace(0, 3, FIELDS)), np.sin(np.linspace(0, 3, FIELDS))])
    level = opinion @ loading + 0.25 * rng.normal(size=(n, FIELDS))
    return np.digitize(level, [-1.0, -0.3, 0.3, 1.0]).astype("int64")


class Imputer(keras.Model):
    def __init__(self, hide=0.3):
        super().__init__()
        self.hide = hide
        self.embed = layers.Embedding(LEVELS + 1, 8)  # the last level stands for "hidden"
        self.mix = keras.Sequential(
            [layers.Flatten(), layers.Dense(128, activation="relu"), layers.Dense(128, activation="relu")]
        )
        self.out = layers.Dense(FIELDS * LEVELS)
        self.reshape = layers.Reshape((FIELDS, LEVELS))
        self.trackers = [keras.metrics.Mean(name="loss"), keras.metrics.Mean(name="right")]

    def call(self, x):
        return self.reshape(self.out(self.mix(self.embed(x))))

    @property
    def metrics(self):
        return self.trackers

    def hidden_loss(self, data):
        x = data[0] if isinstance(data, tuple) else data
        x = x.long()
        hidden = torch.rand(x.shape, device=x.device) < self.hide
        logits = self(torch.where(hidden, LEVELS, x))
        loss = torch.nn.functional.cross_entropy(logits[hidden], x[hidden])
        return loss, (logits[hidden].argmax(-1) == x[hidden]).float().mean()

    def train_step(self, data):
        self.zero_grad()
        loss, right = self.hidden_loss(data)
        loss.backward()
        with torch.no_grad():
            self.optimizer.apply([w.value.grad for w in self.trainable_weights], self.trainable_weights)
        return self.track(loss, right)

    def test_step(self, data):
        # Hides at random here too: what is measured is the filling in, and 600 rows make it steady.
        return self.track(*self.hidden_loss(data))

    def track(self, *values):
        for tracker, value in zip(self.trackers, values):
            tracker.update_state(value.detach())
        return {tracker.name: tracker.result() for tracker in self.trackers}


train, val = answers(3000), answers(600)
model = Imputer()
model.compile(optimizer=keras.optimizers.Adam(3e-3))
model.fit(train, validation_data=(val,), epochs=10, batch_size=64, verbose=2)
most = np.array([np.bincount(train[:, f], minlength=LEVELS).argmax() for f in range(FIELDS)])
print(f"most frequent answer of each field: {(val == most).mean():.3f} right")
