# %% [markdown]
# Next-day profile for each household of a street, from gappy hourly readings.
# Meters drop off the radio network in the busy evening hours, so readings come with gaps.

# %%
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import torch
from keras import layers, ops

torch.set_num_threads(1)
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_HOUSES, N_DAYS, TEST_DAYS, LOOKBACK = 30, 300, 60, 7

# %% readings
hod = np.arange(24)
weekday = np.arange(N_DAYS) % 7
is_weekend = weekday >= 5
temperature = 9 - 8 * np.cos(2 * np.pi * (np.arange(N_DAYS) - 20) / 365) + rng.normal(0, 2.0, N_DAYS)


def hump(centre, width):
    return np.exp(-0.5 * ((hod - centre) / width) ** 2)


def house_readings():
    size = rng.lognormal(-0.3, 0.4)
    morning, evening = rng.normal(7.2, 0.7), rng.normal(19.0, 0.8)
    heat = rng.uniform(0.01, 0.05)
    work = 0.8 * hump(morning, 1.1) + 1.9 * hump(evening, 1.8)
    home = 0.7 * hump(morning + 2, 1.6) + 0.8 * hump(13, 2.2) + 1.6 * hump(evening, 2.2)
    profile = np.where(is_weekend[:, None], home, work)
    warmth = heat * np.clip(17 - temperature, 0, None)[:, None]
    return size * (0.2 + profile + warmth) * rng.lognormal(0, 0.14, (N_DAYS, 24))


kwh = np.stack([house_readings() for _ in range(N_HOUSES)])

# Radio drop-outs: a gap starts more often in the evening and lasts 2 to 7 hours.
flat = kwh.reshape(N_HOUSES, -1).copy()
start_rate = np.tile(np.where((hod >= 15) & (hod <= 20), 0.14, 0.008), N_DAYS)
for h in range(N_HOUSES):
    for t in np.flatnonzero(rng.random(flat.shape[1]) < start_rate):
        flat[h, t:t + rng.integers(2, 8)] = np.nan
readings = flat.reshape(N_HOUSES, N_DAYS, 24)
print(f"missing readings: {100 * np.isnan(readings).mean():.1f}%")

# %% scaling per house on the training days
train_end = N_DAYS - TEST_DAYS
centre = np.nanmean(readings[:, :train_end], axis=(1, 2), keepdims=True)
spread = np.nanstd(readings[:, :train_end], axis=(1, 2), keepdims=True)
scaled = np.nan_to_num((readings - centre) / spread, nan=0.0).astype("float32")
available = np.isfinite(scaled).astype("float32")


# %% samples
def calendar_row(d):
    angle = 2 * np.pi * weekday[d] / 7
    return [np.sin(angle), np.cos(angle), float(is_weekend[d]), (temperature[d] - 9) / 6]


def build(first, last):
    past, seen, cal, target, house = [], [], [], [], []
    for h in range(N_HOUSES):
        for d in range(max(first, LOOKBACK), last):
            past.append(scaled[h, d - LOOKBACK:d])
            seen.append(available[h, d - LOOKBACK:d])
            cal.append(calendar_row(d))
            target.append(np.stack([scaled[h, d], available[h, d]], axis=-1))
            house.append(h)
    x = {"past": np.stack([np.array(past), np.array(seen)], axis=-1).astype("float32"),
         "calendar": np.array(cal, "float32")}
    return x, np.array(target, "float32"), np.array(house)


x_train, y_train, _ = build(0, train_end)
x_test, y_test, house_test = build(train_end, N_DAYS)
print("train", x_train["past"].shape, "test", x_test["past"].shape)


# %% model
def masked_mse(y_true, y_pred):
    value, weight = y_true[..., 0], y_true[..., 1]
    return ops.sum(ops.square(value - y_pred) * weight) / ops.maximum(ops.sum(weight), 1.0)


past_in = keras.Input((LOOKBACK, 24, 2), name="past")
cal_in = keras.Input((4,), name="calendar")
z = layers.Flatten()(past_in)
z = layers.Dense(96, activation="relu")(z)
z = layers.Concatenate()([z, layers.Dense(16, activation="relu")(cal_in)])
z = layers.Dense(96, activation="relu")(z)
out = layers.Dense(24)(z)
model = keras.Model([past_in, cal_in], out)
model.compile(optimizer=keras.optimizers.Adam(1.5e-3), loss=masked_mse)

history = model.fit(x_train, y_train, batch_size=128, epochs=8, verbose=0)
print("loss per epoch:", " ".join(f"{v:.3f}" for v in history.history["loss"]))

# %% scores in kWh on the readings that arrived
pred = model.predict(x_test, batch_size=512, verbose=0)
pred = pred * spread[house_test, :, 0] + centre[house_test, :, 0]
truth = readings[:, train_end:].reshape(-1, 24)
arrived = ~np.isnan(truth)
typical = np.nanmean(readings[:, :train_end], axis=1)[house_test]

evening = np.zeros((1, 24), bool)
evening[:, 17:22] = True
for label, hours in [("all hours", np.ones((1, 24), bool)), ("17-21 h", evening)]:
    use = arrived & hours
    err = (pred - truth)[use]
    base = (typical - truth)[use]
    print(f"{label:10s} MAE {np.abs(err).mean():.4f} kWh  bias {err.mean():+.4f}  "
          f"mean-profile MAE {np.abs(base).mean():.4f}  mean load {truth[use].mean():.3f}")
