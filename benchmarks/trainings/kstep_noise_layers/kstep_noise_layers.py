"""Keras with train_step and test_step of its own on the torch backend: estimate the age of pottery sherds."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import torch
from keras import layers

keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)


class AgeModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.noise = layers.GaussianNoise(0.3)
        self.one = layers.Dense(96, activation="relu")
        self.drop = layers.Dropout(0.5)
        self.two = layers.Dense(48, activation="relu")
        self.out = layers.Dense(1)
        self.loss_mean = keras.metrics.Mean(name="loss")
        self.mae = keras.metrics.MeanAbsoluteError(name="mae")

    def call(self, x, training=None):
        x = self.noise(x, training=training)
        x = self.drop(self.one(x), training=training)
        x = self.drop(self.two(x), training=training)
        return self.out(x)

    def compute(self, data):
        x, y = data
        prediction = self(x, training=True)
        loss = torch.mean((prediction - y) ** 2)
        return prediction, loss

    def train_step(self, data):
        self.zero_grad()
        prediction, loss = self.compute(data)
        loss.backward()
        weights = list(self.trainable_weights)
        with torch.no_grad():
            self.optimizer.apply([w.value.grad for w in weights], weights)
        return self.report(data, prediction, loss)

    def test_step(self, data):
        prediction, loss = self.compute(data)
        return self.report(data, prediction, loss)

    def report(self, data, prediction, loss):
        self.loss_mean.update_state(loss)
        self.mae.update_state(data[1], prediction)
        return {"loss": self.loss_mean.result(), "mae": self.mae.result()}

    @property
    def metrics(self):
        return [self.loss_mean, self.mae]


def sherds(n):
    x = rng.normal(size=(n, 14)).astype("float32")
    age = 0.8 * x[:, 0] - 0.6 * x[:, 1] + 0.5 * np.tanh(2 * x[:, 2]) + 0.3 * x[:, 3] * x[:, 4]
    return x, (age + 0.1 * rng.normal(size=n)).astype("float32")[:, None]


x_train, y_train = sherds(3000)
x_val, y_val = sherds(600)
model = AgeModel()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=12, batch_size=64, verbose=2)
first = model.evaluate(x_val, y_val, verbose=0, return_dict=True)
second = model.evaluate(x_val, y_val, verbose=0, return_dict=True)
print(f"same data, two evaluations: mae {first['mae']:.4f} and {second['mae']:.4f}")
print(f"by predict: mae {np.abs(model.predict(x_val, verbose=0) - y_val).mean():.4f}")
