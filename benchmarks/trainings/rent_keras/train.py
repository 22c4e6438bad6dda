import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch
from keras import layers, ops

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)


def flats(n):
    """area (m2), rooms, floor, distance to centre (km), year -> monthly rent."""
    area = rng.gamma(9.0, 8.0, n)
    rooms = np.clip(np.round(area / 24 + rng.normal(0, 0.6, n)), 1, 7)
    floor = rng.integers(0, 9, n)
    dist = rng.exponential(5.0, n)
    year = rng.integers(1900, 2024, n)
    rent = 250 + 9.5 * area * np.exp(-dist / 14) + 25 * rooms + 6 * floor + 1.2 * np.maximum(0, year - 1980)
    rent = rent + rng.normal(0, 40, n)
    return np.stack([area, rooms, floor, dist, year], 1).astype("float32"), rent.astype("float32")


x_train, y_train = flats(4000)
x_test, y_test = flats(1000)
x_mean, x_std = x_train.mean(0), x_train.std(0)
y_mean, y_std = y_train.mean(), y_train.std()


def scale(x):
    return (x - x_mean) / x_std


class RentModel(keras.Model):
    def __init__(self, width=64):
        super().__init__()
        self.hidden = [layers.Dense(width, activation="gelu"), layers.Dense(width, activation="gelu")]
        self.out = layers.Dense(1)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae_tracker = keras.metrics.MeanAbsoluteError(name="mae")

    def call(self, x, training=False):
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae_tracker]

    def train_step(self, data):
        x, y = data
        self.zero_grad()
        pred = self(x, training=True)
        loss = ops.mean(ops.square(pred - y))
        loss.backward()
        weights = [v for v in self.trainable_weights]
        gradients = [v.value.grad for v in weights]
        with torch.no_grad():
            self.optimizer.apply(gradients, weights)
        self.loss_tracker.update_state(loss)
        self.mae_tracker.update_state(y, ops.squeeze(pred, -1))
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        pred = ops.squeeze(self(x, training=False), -1)
        self.loss_tracker.update_state(ops.mean(ops.square(pred - y)))
        self.mae_tracker.update_state(y, pred)
        return {m.name: m.result() for m in self.metrics}


model = RentModel()
model.compile(optimizer=keras.optimizers.Adam(3e-3))
history = model.fit(
    scale(x_train), (y_train - y_mean) / y_std,
    validation_data=(scale(x_test), (y_test - y_mean) / y_std),
    epochs=8, batch_size=64, verbose=2,
)

rent = model.predict(scale(x_test), verbose=0).squeeze() * y_std + y_mean
mae = np.abs(rent - y_test).mean()
base = np.abs(y_test - np.median(y_train)).mean()
print(f"test MAE {mae:.1f} EUR (median predictor {base:.1f} EUR), R2 {1 - ((rent - y_test) ** 2).mean() / y_test.var():.3f}")
