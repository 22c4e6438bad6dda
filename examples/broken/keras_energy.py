import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(6)
HOURS = 24


def days(rows, seed):
    random = np.random.default_rng(seed)
    hours = np.arange(HOURS)
    base = random.uniform(0.5, 2.0, (rows, 1))
    peak = random.uniform(6, 20, (rows, 1))
    loads = base + np.exp(-((hours - peak) ** 2) / 18) + 0.05 * random.normal(size=(rows, HOURS))
    change = loads[:, -4:].mean(1) - loads[:, :4].mean(1) + 0.3 * (base[:, 0] - 1.25)
    return loads.astype("float32"), change.astype("float32")


x_train, y_train = days(2000, 1)
x_test, y_test = days(500, 2)
mean, std = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std
y_test = (y_test - y_train.mean()) / y_train.std()
y_train = (y_train - y_train.mean()) / y_train.std()

model = keras.Sequential(
    [
        keras.Input((HOURS,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(24, activation="relu"),
        layers.Dense(1, activation="relu"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.002), loss="mse", metrics=["mae"])
model.fit(x_train, y_train, epochs=10, batch_size=50, validation_data=(x_test, y_test), verbose=2)
print(model.evaluate(x_test, y_test, verbose=0))
