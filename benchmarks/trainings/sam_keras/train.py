"""Digits with 15% wrong labels in the training part: sharpness-aware steps and label smoothing in Keras 3 (torch)."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(314)


class SharpnessAware(keras.Model):
    """Takes the gradient at the worst point within `rho` of the weights."""

    def __init__(self, inputs, outputs, rho=0.05, **kw):
        super().__init__(inputs=inputs, outputs=outputs, **kw)
        self.rho = rho

    def train_step(self, data):
        x, y = data
        params = [v.value for v in self.trainable_weights]

        self.zero_grad()
        first = self.compute_loss(y=y, y_pred=self(x, training=True))
        first.backward()
        with torch.no_grad():
            norm = torch.stack([p.grad.norm() for p in params]).norm() + 1e-12
            moves = [p.grad * (self.rho / norm) for p in params]
            for p, m in zip(params, moves):
                p.add_(m)

        self.zero_grad()
        y_pred = self(x, training=True)
        loss = self.compute_loss(y=y, y_pred=y_pred)
        loss.backward()
        with torch.no_grad():
            for p, m in zip(params, moves):
                p.sub_(m)
            self.optimizer.apply([p.grad for p in params], self.trainable_weights)

        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(first.detach())
            else:
                metric.update_state(y, y_pred.detach())
        return {m.name: m.result() for m in self.metrics}


def build():
    inp = keras.Input((64,))
    h = layers.Dense(96, activation="gelu")(inp)
    h = layers.LayerNormalization()(h)
    h = layers.Dropout(0.2)(h)
    h = layers.Dense(64, activation="gelu")(h)
    return SharpnessAware(inp, layers.Dense(10)(h))


def main():
    x, y = load_digits(return_X_y=True)
    x = (x / 16.0).astype("float32")
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, stratify=y, random_state=1)
    rng = np.random.default_rng(1)
    wrong = rng.random(len(y_tr)) < 0.15
    noisy = np.where(wrong, rng.integers(0, 10, len(y_tr)), y_tr)
    one_hot = keras.utils.to_categorical(noisy, 10)

    model = build()
    schedule = keras.optimizers.schedules.CosineDecay(3e-3, decay_steps=30 * (len(x_tr) // 32 + 1))
    model.compile(
        optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-3),
        loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
        metrics=[keras.metrics.CategoricalAccuracy(name="acc")],
    )
    model.fit(
        x_tr, one_hot, batch_size=32, epochs=30, verbose=2,
        validation_data=(x_te, keras.utils.to_categorical(y_te, 10)),
    )


if __name__ == "__main__":
    main()
