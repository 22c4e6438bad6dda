"""Which customers leave, from a table (Keras)."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(1)
FEATURES = 12


def customers(rows, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, FEATURES)).astype("float32")
    score = x[:, 0] - 0.8 * x[:, 1] + x[:, 2] * x[:, 3] + 0.5 * np.abs(x[:, 4])
    leaves = score + random.normal(size=rows) > 0.4
    return x, leaves.astype("float32")


x_train, y_train = customers(1500, 1)
x_test, y_test = customers(1000, 2)

inputs = keras.Input((FEATURES,))
hidden = layers.Dense(48, activation="relu")(inputs)
hidden = layers.Dense(24, activation="relu")(hidden)
hidden = layers.Dropout(0.3)(hidden)
outputs = layers.Dense(1, activation="sigmoid")(hidden)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.002),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=0)
loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.4f} test accuracy {accuracy:.4f}")
