import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

# ring count of shells from their measures; the target is standardised for training
keras.utils.set_random_seed(33)


def shells(n, rng):
    length = rng.gamma(20, 0.025, n)
    diameter = length * rng.normal(0.8, 0.03, n)
    weight = 2.2 * length ** 3 * rng.lognormal(0, 0.15, n)
    shell = 0.3 * weight * rng.lognormal(0, 0.2, n)
    sex = rng.integers(0, 3, n)
    rings = 6 + 9 * length + 12 * shell / (0.2 + weight) + 0.8 * (sex == 1) - 1.1 * (sex == 2) + rng.normal(0, 0.5, n)
    x = np.stack([length, diameter, weight, shell, sex == 0, sex == 1], axis=1)
    return x.astype("float32"), rings.astype("float32")


rng = np.random.default_rng(6)
x_train, r_train = shells(3000, rng)
x_test, r_test = shells(800, rng)

r_mean, r_std = r_train.mean(), r_train.std()
y_train = (r_train - r_mean) / r_std
y_test = (r_test - r_mean) / r_std

norm = layers.Normalization()
norm.adapt(x_train)


def build_model(units=48):
    inputs = keras.Input(shape=(x_train.shape[1],))
    h = norm(inputs)
    h = layers.Dense(units, activation="relu")(h)
    h = layers.Dense(units, activation="relu")(h)
    outputs = layers.Dense(1, activation="relu")(h)
    return keras.Model(inputs, outputs)


model = build_model()
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
history = model.fit(
    x_train,
    y_train,
    validation_split=0.15,
    batch_size=64,
    epochs=15,
    verbose=0,
    callbacks=[keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.5)],
)
for e in range(2, 15, 4):
    print(f"epoch {e + 1}: loss {history.history['loss'][e]:.4f} val_loss {history.history['val_loss'][e]:.4f}")

mse, mae = model.evaluate(x_test, y_test, verbose=0)
pred = model.predict(x_test, verbose=0).ravel() * r_std + r_mean
print(f"test mse (standardised) {mse:.4f}; mean absolute error {np.abs(pred - r_test).mean():.2f} rings")
print(f"R2 {1 - mse / y_test.var():.3f}")
print("predicted rings, 5th and 95th percentile:", np.percentile(pred, [5, 95]).round(1), "true:", np.percentile(r_test, [5, 95]).round(1))
