"""Comfort level of an office from sensor readings (Keras, Sequential)."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(50)
rng = np.random.default_rng(50)

N = 4000


def simulate(n):
    temp = rng.normal(21.5, 3.0, n)
    humidity = rng.uniform(20, 80, n)
    co2 = rng.gamma(6, 130, n)
    people = rng.poisson(4, n)
    draft = rng.exponential(0.15, n)
    score = -np.abs(temp - 21.5) - 0.04 * np.abs(humidity - 45) - 0.002 * co2 - 4 * draft - 0.05 * people
    level = np.digitize(score, np.quantile(score, [0.33, 0.66]))
    return np.stack([temp, humidity, co2, people, draft], axis=1), level


def shuffle(data):
    order = rng.permutation(len(data))
    return data[order]


def prepare():
    x, y = simulate(N)
    x = shuffle(x)
    y = shuffle(y)
    cut = int(0.8 * N)
    x_train, x_test, y_train, y_test = x[:cut], x[cut:], y[:cut], y[cut:]
    mean, std = x_train.mean(axis=0), x_train.std(axis=0)
    return (x_train - mean) / std, y_train, (x_test - mean) / std, y_test


def build():
    model = keras.Sequential(
        [
            keras.Input(shape=(5,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dropout(0.1),
            layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


x_train, y_train, x_test, y_test = prepare()
model = build()
stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=8, restore_best_weights=True)
history = model.fit(
    x_train, y_train,
    validation_split=0.2, epochs=15, batch_size=64, verbose=0, callbacks=[stop],
)
for i, (a, b) in enumerate(zip(history.history["accuracy"], history.history["val_accuracy"])):
    print(f"epoch {i + 1:2d}  accuracy {a:.3f}  val accuracy {b:.3f}")
test_loss, test_acc = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {test_loss:.4f}, accuracy {test_acc:.3f}, largest class {np.bincount(y_test).max() / len(y_test):.3f}")
