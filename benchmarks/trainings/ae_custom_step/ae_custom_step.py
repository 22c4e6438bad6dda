"""Sine regression with an own Keras train_step on the torch backend."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch
from keras import layers


def wave(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (n, 3)).astype("float32")
    y = np.sin(2 * x[:, :1]) * x[:, 1:2] + 0.5 * x[:, 2:] ** 2
    return x, (y + 0.05 * rng.standard_normal(y.shape)).astype("float32")


class WaveModel(keras.Model):
    def __init__(self, width=64):
        super().__init__()
        self.hidden = [layers.Dense(width, activation="tanh") for _ in range(2)]
        self.out = layers.Dense(1)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae = keras.metrics.MeanAbsoluteError(name="mae")

    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae]

    def train_step(self, data):
        x, y = data
        y_pred = self(x, training=True)
        loss = keras.ops.mean(keras.ops.square(y - y_pred))
        loss.backward()

        trainable = list(self.trainable_weights)
        gradients = [v.value.grad for v in trainable]
        with torch.no_grad():
            self.optimizer.apply(gradients, trainable)

        self.loss_tracker.update_state(loss)
        self.mae.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        self.loss_tracker.update_state(keras.ops.mean(keras.ops.square(y - y_pred)))
        self.mae.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


def main():
    keras.utils.set_random_seed(23)
    x_train, y_train = wave(3200, 0)
    x_val, y_val = wave(800, 1)
    model = WaveModel()
    model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.05))
    history = model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=64, epochs=10, verbose=0)
    for epoch, (tr, va) in enumerate(zip(history.history["loss"], history.history["val_loss"]), 1):
        print(f"epoch {epoch:2d} mse {tr:.4f} val mse {va:.4f}")
    print(f"variance of the target {y_val.var():.4f}")


if __name__ == "__main__":
    main()
