import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(4)


def customers(rows, seed):
    random = np.random.default_rng(seed)
    table = random.normal(size=(rows, 12)).astype("float32")
    score = table[:, 0] - 1.2 * table[:, 3] + table[:, 5] * table[:, 7]
    return table, (score + 0.3 * random.normal(size=rows) > 0).astype("float32")


x_train, y_train = customers(2000, 1)
x_test, y_test = customers(500, 2)

model = keras.Sequential(
    [
        keras.Input((12,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(16, activation="relu"),
        layers.Dense(1, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=8, batch_size=32, validation_data=(x_test, y_test), verbose=2)
print(model.evaluate(x_test, y_test, verbose=0))
