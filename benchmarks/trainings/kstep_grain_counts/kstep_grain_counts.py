"""Keras with a train_step of its own on the torch backend: a weighted loss for the sorting of grain."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import torch
from keras import layers

keras.utils.set_random_seed(88)
rng = np.random.default_rng(88)
KINDS = 6


class GrainSorter(keras.Model):
    """Costs of a mistake differ by kind: wheat taken for weed is worse than the reverse."""

    def __init__(self, cost, **kwargs):
        super().__init__(**kwargs)
        self.cost = torch.tensor(cost, dtype=torch.float32)
        self.body = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(64, activation="relu")])
        self.head = layers.Dense(KINDS)
        self.tracker = keras.metrics.Mean(name="loss")
        self.accuracy = keras.metrics.SparseCategoricalAccuracy(name="accuracy")

    def call(self, x):
        return self.head(self.body(x))

    def weighted_loss(self, y, logits):
        return torch.nn.functional.cross_entropy(logits, y.long(), weight=self.cost)

    def train_step(self, data):
        x, y = data
        logits = self(x, training=True)
        loss = self.weighted_loss(y, logits)
        loss.backward()
        variables = self.trainable_variables
        gradients = [v.value.grad for v in variables]
        with torch.no_grad():
            self.optimizer.apply(gradients, variables)
        self.tracker.update_state(loss)
        self.accuracy.update_state(y, logits)
        return {metric.name: metric.result() for metric in self.metrics}

    def test_step(self, data):
        x, y = data
        logits = self(x, training=False)
        self.tracker.update_state(self.weighted_loss(y, logits))
        self.accuracy.update_state(y, logits)
        return {metric.name: metric.result() for metric in self.metrics}

    @property
    def metrics(self):
        return [self.tracker, self.accuracy]


def grains(n):
    kind = rng.integers(0, KINDS, n)
    size = np.array([2.0, 2.6, 3.2, 1.4, 1.8, 4.0])[kind] + rng.normal(0, 0.25, n)
    red = np.array([0.6, 0.5, 0.7, 0.3, 0.8, 0.4])[kind] + rng.normal(0, 0.08, n)
    rough = np.array([0.2, 0.6, 0.4, 0.8, 0.5, 0.3])[kind] + rng.normal(0, 0.12, n)
    x = np.stack([size - 2.5, (red - 0.55) * 5, (rough - 0.5) * 4, size * red - 1.3], axis=1)
    return x.astype("float32"), kind


x_train, y_train = grains(3000)
x_val, y_val = grains(800)
model = GrainSorter(cost=[2.0, 1.5, 1.0, 1.0, 1.0, 1.0])
model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.02, momentum=0.9))
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=10, batch_size=50, verbose=2)
print({k: round(float(v), 3) for k, v in model.evaluate(x_val, y_val, verbose=0, return_dict=True).items()})
