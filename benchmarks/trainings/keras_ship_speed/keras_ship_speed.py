"""Speed of ships from engine and weather with Keras; early stopping keeps the best epoch."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(101)
rng = np.random.default_rng(101)


def voyages(n):
    power = rng.uniform(0.3, 1.0, n)
    draught = rng.uniform(6, 14, n)
    wind = rng.gamma(2.0, 4.0, n)
    heading = rng.uniform(0, 2 * np.pi, n)
    fouling = rng.exponential(0.5, n)
    speed = 22 * np.cbrt(power) - 0.25 * (draught - 10) - 0.08 * wind * np.cos(heading) - 0.8 * fouling
    x = np.stack([power, draught, wind, np.cos(heading), np.sin(heading), fouling], axis=1)
    return x.astype("float32"), (speed + rng.normal(0, 0.2, n)).astype("float32")


def build(normalizer):
    inputs = keras.Input(shape=(6,))
    x = normalizer(inputs)
    x = layers.Dense(64, activation="relu")(x)
    x = layers.Dense(32, activation="relu")(x)
    outputs = layers.Dense(1)(x)
    return keras.Model(inputs, outputs)


x, y = voyages(3000)
x_train, y_train = x[:2400], y[:2400]
x_test, y_test = x[2400:], y[2400:]
y_mean, y_std = y_train.mean(), y_train.std()

normalizer = layers.Normalization()
normalizer.adapt(x_train)
model = build(normalizer)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="mse",
    metrics=["accuracy"],
)
stop = keras.callbacks.EarlyStopping(
    monitor="val_accuracy",
    mode="max",
    patience=3,
    restore_best_weights=True,
)
history = model.fit(
    x_train,
    (y_train - y_mean) / y_std,
    validation_split=0.2,
    epochs=30,
    batch_size=64,
    callbacks=[stop],
    verbose=2,
)

prediction = model.predict(x_test, verbose=0).squeeze() * y_std + y_mean
rmse = float(np.sqrt(np.mean((prediction - y_test) ** 2)))
print(f"epochs {len(history.history['loss'])}, test RMSE {rmse:.3f} knots, spread of the speeds {y_test.std():.3f}")
