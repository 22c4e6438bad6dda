"""Regression with Monte-Carlo dropout: a Keras model, a hand-written loop, and prediction with dropout left on."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch
from keras import layers

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)


def curve(n):
    x = rng.uniform(-2, 2, (n, 1))
    gap = (x > 0.4) & (x < 1.0)
    y = np.sin(2.5 * x) + 0.3 * x + rng.normal(0, 0.1, (n, 1))
    return x[~gap][:, None].astype("float32"), y[~gap][:, None].astype("float32")


def build():
    inp = keras.Input((1,))
    h = layers.Dense(96, activation="relu")(inp)
    h = layers.Dropout(0.1)(h)
    h = layers.Dense(96, activation="relu")(h)
    h = layers.Dropout(0.1)(h)
    return keras.Model(inp, layers.Dense(1)(h))


def train(model, x, y, epochs=35, batch=64):
    opt = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(5e-3, 200, 0.6))
    mse = keras.losses.MeanSquaredError()
    for ep in range(1, epochs + 1):
        losses = []
        for j in np.array_split(rng.permutation(len(x)), len(x) // batch):
            loss = mse(y[j], model(x[j], training=True))
            model.zero_grad()
            loss.backward()
            w = model.trainable_weights
            with torch.no_grad():
                opt.apply([v.value.grad for v in w], w)
            losses.append(loss.item())
        if ep % 7 == 0:
            print(f"epoch {ep} mse {np.mean(losses):.4f}")


def predict(model, x, draws=40):
    """Mean and spread over random dropout masks."""
    with torch.no_grad():
        runs = torch.stack([model(x, training=True) for _ in range(draws)])
    return runs.mean(0).cpu().numpy(), runs.std(0).cpu().numpy()


x, y = curve(1500)
xt, yt = curve(500)
model = build()
train(model, x, y)
mean, sd = predict(model, xt)
r2 = 1 - ((mean - yt) ** 2).sum() / ((yt - yt.mean()) ** 2).sum()
_, sd_gap = predict(model, np.linspace(0.6, 0.8, 50, dtype="float32")[:, None])
_, sd_out = predict(model, np.linspace(3.5, 4.5, 50, dtype="float32")[:, None])
print(f"test R2 of the averaged prediction {r2:.3f}")
print(f"spread: on data {sd.mean():.3f}, in the gap {sd_gap.mean():.3f}, far outside {sd_out.mean():.3f}")
