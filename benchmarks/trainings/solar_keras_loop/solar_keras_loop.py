"""Solar output per quarter hour; custom Keras loop on torch (forward, backward, apply by hand)."""
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import torch
from keras import layers

keras.utils.set_random_seed(12)


def days(n, seed):
    r = np.random.default_rng(seed)
    hour = r.uniform(5, 20, n)
    cloud = r.beta(0.8, 0.8, n)
    temp = r.normal(15, 8, n)
    season = r.uniform(0, 1, n)
    sun = np.clip(np.sin(np.pi * (hour - 5) / 15), 0, None) * (0.7 + 0.3 * np.sin(2 * np.pi * season))
    out = sun * (1 - 0.8 * cloud ** 1.5) * (1 - 0.006 * (temp - 25)) + r.normal(0, 0.02, n)
    x = np.stack([np.sin(np.pi * hour / 12), np.cos(np.pi * hour / 12), cloud * 2 - 1, (temp - 15) / 8,
                  np.sin(2 * np.pi * season), np.cos(2 * np.pi * season)], 1)
    return x.astype("float32"), ((out - 0.35) / 0.25).astype("float32")[:, None]


def get_model():
    return keras.Sequential([
        keras.Input((6,)),
        layers.Dense(96, activation="gelu"),
        layers.Dropout(0.3),
        layers.Dense(96, activation="gelu"),
        layers.Dropout(0.3),
        layers.Dense(1),
    ])


model = get_model()
optimizer = keras.optimizers.AdamW(learning_rate=2e-3, weight_decay=1e-4)
loss_fn = keras.losses.MeanSquaredError()
x, y = days(4000, 0)
x_val, y_val = days(1000, 1)
train_set = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), batch_size=64, shuffle=True)
val_set = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(torch.from_numpy(x_val), torch.from_numpy(y_val)), batch_size=250)

val_metric = keras.metrics.RootMeanSquaredError()
train_metric = keras.metrics.RootMeanSquaredError()


def train_batch(xb, yb):
    pred = model(xb, training=True)
    loss = loss_fn(yb, pred)
    model.zero_grad()
    loss.backward()
    weights = model.trainable_weights
    grads = [w.value.grad for w in weights]
    with torch.no_grad():
        optimizer.apply(grads, weights)
    train_metric.update_state(yb, pred.detach())
    return loss.item()


def validate():
    val_metric.reset_state()
    with torch.no_grad():
        for xb, yb in val_set:
            val_metric.update_state(yb, model(xb, training=True))
    return float(val_metric.result())


for epoch in range(15):
    train_metric.reset_state()
    for xb, yb in train_set:
        train_batch(xb, yb)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} train rmse {float(train_metric.result()):.4f} val rmse {validate():.4f}")

print(f"final validation rmse {validate():.4f}; always the mean: {y_val.std():.4f}")
