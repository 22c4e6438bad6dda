"""Predict the hourly consumption of a heat pump from weather and house data (Keras 3, torch backend)."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(2)


def simulate_year(n_houses=12, seed=2):
    rng = np.random.default_rng(seed)
    day = np.arange(365)
    season = -np.cos(2 * np.pi * day / 365)
    rows, load = [], []
    for _ in range(n_houses):
        area, insulation = rng.uniform(60, 220), rng.uniform(0.4, 1.0)
        temp = 9 + 11 * season + rng.normal(0, 4, 365)
        wind = rng.gamma(2.0, 2.0, 365)
        sun = np.clip(4 + 3 * season + rng.normal(0, 1.5, 365), 0, None)
        heating = np.clip(19 - temp - 0.6 * sun, 0, None) * (1 + 0.05 * wind)
        cooling = np.clip(temp - 24, 0, None) * 1.5
        kwh = area / 100 * (heating / (6 * insulation) + cooling / 4) + 1.0
        rows.append(np.stack([np.full(365, area), np.full(365, insulation), temp, wind, sun], axis=1))
        load.append(kwh + rng.normal(0, 0.1, 365))
    x, y = np.stack(rows), np.stack(load)                   # house, day, feature
    return x.astype("float32"), y.astype("float32"), day


def flat(a):
    return a.reshape(-1, a.shape[-1]) if a.ndim == 3 else a.reshape(-1)


x, y, day = simulate_year()
winter = (day < 45) | (day > 330)
january = day < 31
train_days = ~january
x_train, y_train = flat(x[:, train_days]), flat(y[:, train_days])
x_test, y_test = flat(x[:, january]), flat(y[:, january])
print(f"train rows {len(x_train)} ({winter[train_days].mean():.0%} winter), test rows {len(x_test)} (january)")

scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.fit_transform(x_test)

y_mean, y_std = y_train.mean(), y_train.std()

model = keras.Sequential([
    keras.Input((5,)),
    layers.Dense(64, activation="relu"),
    layers.Dense(64, activation="relu"),
    layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
history = model.fit(
    x_train,
    (y_train - y_mean) / y_std,
    validation_data=(x_test, (y_test - y_mean) / y_std),
    epochs=12,
    batch_size=64,
    verbose=2,
)

pred = model.predict(x_test, verbose=0)[:, 0] * y_std + y_mean
print(f"january: MAE {mean_absolute_error(y_test, pred):.3f} kWh, R2 {r2_score(y_test, pred):.3f}, "
      f"mean load {y_test.mean():.2f}, mean predicted {pred.mean():.2f}")
