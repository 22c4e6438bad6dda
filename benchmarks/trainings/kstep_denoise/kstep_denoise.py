"""Keras custom step for a denoiser with two optimizers' worth of parts: noise drawn in the step, EMA copy for testing."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import torch
from keras import layers, ops


def waves(n, seed):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, 48)
    f1, f2 = rng.uniform(1, 4, (2, n, 1))
    p1, p2 = rng.uniform(0, 6.28, (2, n, 1))
    return (0.7 * np.sin(6.28 * f1 * t + p1) + 0.5 * np.sin(6.28 * f2 * t + p2)).astype("float32")


def network():
    return keras.Sequential(
        [
            keras.Input((48,)),
            layers.Dense(128, activation="gelu"),
            layers.Dense(128, activation="gelu"),
            layers.Dense(48, kernel_initializer="zeros"),
        ]
    )


class Denoiser(keras.Model):
    def __init__(self, sigma=0.5, ema=0.99):
        super().__init__()
        self.network, self.shadow = network(), network()
        self.shadow.set_weights(self.network.get_weights())
        self.shadow.trainable = False
        self.sigma, self.ema = sigma, ema
        self.tracker = keras.metrics.Mean(name="mse")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x, training=False):
        net = self.network if training else self.shadow
        return x - net(x, training=training)

    def train_step(self, data):
        clean = data[0] if isinstance(data, tuple) else data
        noisy = clean + self.sigma * keras.random.normal(ops.shape(clean))
        self.zero_grad()
        loss = ops.mean(ops.square(self(noisy, training=True) - clean))
        loss.backward()
        variables = self.network.trainable_variables
        gradients = [v.value.grad for v in variables]
        with torch.no_grad():
            self.optimizer.apply(gradients, variables)
            for copy, own in zip(self.shadow.weights, self.network.weights):
                copy.assign(self.ema * copy + (1 - self.ema) * own)
        self.tracker.update_state(loss)
        return {"mse": self.tracker.result()}

    def test_step(self, data):
        noisy, clean = data
        self.tracker.update_state(ops.mean(ops.square(self(noisy) - clean)))
        return {"mse": self.tracker.result()}


def main():
    keras.utils.set_random_seed(3)
    train, test = waves(3000, 0), waves(400, 1)
    noisy_test = test + 0.5 * np.random.default_rng(9).normal(size=test.shape).astype("float32")
    model = Denoiser()
    model.build((None, 48))
    steps = 10 * (len(train) // 64 + 1)
    schedule = keras.optimizers.schedules.CosineDecay(1e-4, steps, warmup_target=2e-3, warmup_steps=steps // 20)
    model.compile(optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-4))
    print("noisy input mse:", float(np.mean((noisy_test - test) ** 2)))
    model.fit(train, batch_size=64, epochs=10, validation_data=(noisy_test, test), verbose=2)


if __name__ == "__main__":
    main()
