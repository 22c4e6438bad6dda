import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(8)
SPECIES, FEATURES = 5, 16


def birds(rows, seed):
    centres = np.random.default_rng(0).normal(0, 0.7, (SPECIES, FEATURES))
    random = np.random.default_rng(seed)
    species = random.integers(0, SPECIES, rows)
    return (centres[species] + random.normal(size=(rows, FEATURES))).astype("float32"), species


x_train, y_train = birds(1500, 1)
x_test, y_test = birds(500, 2)
strong = keras.regularizers.L2(0.1)

model = keras.Sequential(
    [
        keras.Input((FEATURES,)),
        layers.Dense(64, activation="relu", kernel_regularizer=strong),
        layers.Dropout(0.9),
        layers.Dense(64, activation="relu", kernel_regularizer=strong),
        layers.Dropout(0.9),
        layers.Dense(SPECIES, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(0.003), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
)
model.fit(x_train, y_train, epochs=10, batch_size=50, validation_data=(x_test, y_test), verbose=2)
print(model.evaluate(x_test, y_test, verbose=0))
