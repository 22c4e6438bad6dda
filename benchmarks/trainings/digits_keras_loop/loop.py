"""Digit recognition with a hand-written Keras/torch training loop."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(0)
EPOCHS, BATCH = 14, 64


def get_data():
    d = load_digits()
    x = d.data.astype("float32") / 16.0
    x_tr, x_va, y_tr, y_va = train_test_split(x, d.target, test_size=0.3, random_state=0, stratify=d.target)
    return (x_tr, y_tr), (x_va, y_va)


def get_model(n_in, n_out):
    inp = keras.Input((n_in,))
    h = layers.Dense(96, activation="relu")(inp)
    h = layers.Dropout(0.5)(h)
    h = layers.Dense(96, activation="relu")(h)
    h = layers.Dropout(0.7)(h)
    return keras.Model(inp, layers.Dense(n_out)(h))


class Loop:
    def __init__(self, model):
        self.model = model
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.optimizer = keras.optimizers.Adam(3e-3)
        self.metric = keras.metrics.SparseCategoricalAccuracy()

    def train_batch(self, x, y):
        self.model.zero_grad()
        loss = self.loss_fn(y, self.model(x, training=True))
        loss.backward()
        weights = self.model.trainable_weights
        with torch.no_grad():
            self.optimizer.apply([w.value.grad for w in weights], weights)
        return float(loss)

    def validate(self, x, y):
        self.metric.reset_state()
        losses = []
        with torch.no_grad():
            for i in range(0, len(x), 256):
                logits = self.model(x[i:i + 256], training=True)
                losses.append(float(self.loss_fn(y[i:i + 256], logits)))
                self.metric.update_state(y[i:i + 256], logits)
        return np.mean(losses), float(self.metric.result())

    def fit(self, train, val):
        (x, y), rng = train, np.random.default_rng(0)
        best = 0.0
        for epoch in range(EPOCHS):
            order = rng.permutation(len(x))
            run = [self.train_batch(x[j], y[j]) for j in np.array_split(order, len(x) // BATCH)]
            vl, va = self.validate(*val)
            best = max(best, va)
            print(f"epoch {epoch + 1:02d} loss {np.mean(run):.4f} val_loss {vl:.4f} val_acc {va:.4f}")
        return best


if __name__ == "__main__":
    train, val = get_data()
    model = get_model(train[0].shape[1], 10)
    best = Loop(model).fit(train, val)
    print(f"best val acc {best:.4f}")
