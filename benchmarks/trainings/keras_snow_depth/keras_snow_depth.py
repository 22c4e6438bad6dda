"""Change of snow depth over a day (grows and melts) from weather readings, Keras functional model."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.preprocessing import StandardScaler

SEED = 31
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def stations(days=3000):
    temperature = rng.normal(-1, 5, days)
    snowfall = np.where((rng.random(days) < 0.35) & (temperature < 1), rng.gamma(1.5, 5.0, days), 0.0)
    rain = np.where((rng.random(days) < 0.2) & (temperature >= 1), rng.gamma(1.5, 4.0, days), 0.0)
    sun = rng.uniform(0, 9, days)
    wind = rng.gamma(2.0, 3.0, days)
    melt = np.maximum(temperature, 0) * (0.8 + 0.15 * sun) + 0.3 * rain
    settle = 0.05 * wind + 0.3
    change = snowfall - melt - settle + rng.normal(0, 0.5, days)
    return np.stack([temperature, snowfall, rain, sun, wind], axis=1), change


x, y = stations()
train, test = slice(0, 2400), slice(2400, None)
x_scaler = StandardScaler().fit(x[train])
y_scale = y[train].std()
x = x_scaler.transform(x).astype("float32")
y = (y / y_scale).astype("float32")

inputs = keras.Input((5,), name="weather")
hidden = layers.Dense(48, activation="relu")(inputs)
hidden = layers.Dense(48, activation="relu")(hidden)
output = layers.Dense(1, activation="relu", name="change")(hidden)
model = keras.Model(inputs, output)
model.summary()

model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=2e-3),
    loss=keras.losses.MeanSquaredError(),
    metrics=[keras.metrics.MeanAbsoluteError(name="mae")],
)
model.fit(
    x[train],
    y[train],
    validation_data=(x[test], y[test]),
    epochs=15,
    batch_size=64,
    verbose=2,
)

prediction = model.predict(x[test], verbose=0).squeeze()
melting = y[test] < -0.2
r2 = 1 - np.mean((prediction - y[test]) ** 2) / y[test].var()
print(f"days that melt: {melting.mean():.2f}, their mean change {y[test][melting].mean():.2f}")
print(f"predicted on those days {prediction[melting].mean():.2f}, R2 on all days {r2:.3f}")
