"""Sharpness-aware minimisation in a Keras train_step: two backward passes, the weights moved away and back between them."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import torch
from keras import layers
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(41)


class SamModel(keras.Model):
    def __init__(self, *args, rho=0.05, **kwargs):
        super().__init__(*args, **kwargs)
        self.rho = rho

    def gradients(self, x, y):
        self.zero_grad()
        loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
        loss.backward()
        return loss, [w.value.grad.clone() for w in self.trainable_weights]

    def train_step(self, data):
        x, y = data
        loss, first = self.gradients(x, y)
        length = torch.sqrt(sum((g**2).sum() for g in first)) + 1e-12
        moves = [self.rho * g / length for g in first]
        with torch.no_grad():
            for weight, move in zip(self.trainable_weights, moves):
                weight.value.add_(move)  # uphill, to the worst place nearby
        _, second = self.gradients(x, y)
        with torch.no_grad():
            for weight, move in zip(self.trainable_weights, moves):
                weight.value.sub_(move)  # and back
            self.optimizer.apply(second, self.trainable_weights)
        with torch.no_grad():
            y_pred = self(x, training=False)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {metric.name: metric.result() for metric in self.metrics}


data = load_wine()
x_train, x_test, y_train, y_test = train_test_split(
    data.data.astype("float32"), data.target, test_size=0.35, stratify=data.target, random_state=41
)
normalise = layers.Normalization()
normalise.adapt(x_train)
inputs = keras.Input((13,))
hidden = layers.Dense(32, activation="gelu")(normalise(inputs))
outputs = layers.Dense(3)(hidden)
model = SamModel(inputs, outputs, rho=0.1)
model.compile(
    optimizer=keras.optimizers.SGD(0.1, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
# 115 rows in batches of 8: twelve epochs are some 180 steps, enough for wines.
model.fit(x_train, y_train, epochs=12, batch_size=8, verbose=2)
scores = model.evaluate(x_test, y_test, verbose=0, return_dict=True)
print({name: round(float(value), 4) for name, value in scores.items()})
majority = np.bincount(y_train).argmax()
print(f"majority class {np.mean(y_test == majority):.3f}")
