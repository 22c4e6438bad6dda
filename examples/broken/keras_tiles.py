import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(1)
KINDS, SIZE = 4, 12


def tiles(rows, seed):
    random = np.random.default_rng(seed)
    kinds = random.integers(0, KINDS, rows)
    images = random.normal(90, 45, (rows, SIZE, SIZE, 1))
    for number, kind in enumerate(kinds):
        row, column = divmod(kind, 2)
        images[number, 6 * row : 6 * row + 6, 6 * column : 6 * column + 6] += 45
    return images.clip(0, 255).astype("float32"), keras.utils.to_categorical(kinds, KINDS)


x_train, y_train = tiles(1200, 1)
x_test, y_test = tiles(400, 2)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(KINDS, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(0.05), loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=8, batch_size=40, validation_data=(x_test, y_test), verbose=2)
print(model.evaluate(x_test, y_test, verbose=0))
