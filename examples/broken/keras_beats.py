import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(10)
CLASSES, LENGTH = 4, 40


def beats(rows, seed):
    random = np.random.default_rng(seed)
    classes = random.integers(0, CLASSES, rows)
    time = np.linspace(0, 6, LENGTH)
    waves = np.sin(time * (1 + 0.6 * classes[:, None]) + random.uniform(0, 1.5, (rows, 1)))
    return (waves + 0.25 * random.normal(size=(rows, LENGTH))).astype("float32"), classes


x_train, y_train = beats(2000, 1)
x_test, y_test = beats(500, 2)

inputs = keras.Input((LENGTH,))
hidden = layers.Dense(64, activation="relu", kernel_initializer="ones")(inputs)
hidden = layers.Dense(32, activation="relu", kernel_initializer="ones")(hidden)
outputs = layers.Dense(CLASSES, activation="softmax")(hidden)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.001),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x_train, y_train, epochs=10, batch_size=50, validation_data=(x_test, y_test), verbose=2)
print(model.evaluate(x_test, y_test, verbose=0))
