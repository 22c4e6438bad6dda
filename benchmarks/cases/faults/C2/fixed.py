"""Photographs: a convolutional network on CIFAR-10."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from dataset import load_cifar10
from keras.layers import Conv2D, Dense, Flatten, Input, MaxPooling2D

(x, y), (x_test, y_test) = load_cifar10()
x = x.astype("float32") / 255
x_test = x_test.astype("float32") / 255

order = np.random.RandomState(0).permutation(len(x))
held_out = len(x) // 5
x_valid, y_valid = x[order[:held_out]], y[order[:held_out]]
x_train, y_train = x[order[held_out:]], y[order[held_out:]]

model = keras.Sequential(
    [
        Input(shape=(32, 32, 3)),
        Conv2D(32, (3, 3), activation="relu"),
        MaxPooling2D((2, 2)),
        Conv2D(64, (3, 3), activation="relu"),
        MaxPooling2D((2, 2)),
        Conv2D(128, (3, 3), activation="relu"),
        MaxPooling2D((2, 2)),
        Flatten(),
        Dense(256, activation="relu"),
        Dense(128, activation="relu"),
        Dense(10, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.001),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=50,
    validation_data=(x_valid, y_valid),
    verbose=2,
)

loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("Test loss:", loss)
print("Test accuracy:", accuracy)
