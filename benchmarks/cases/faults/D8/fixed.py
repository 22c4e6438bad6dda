"""Remainders: from the bits of a number to the bits of the number modulo 7."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras.layers import Dense
from keras import optimizers

BITS = 20

rng = np.random.RandomState(42)
bits = rng.randint(0, 2, size=(10000, BITS))
numbers = bits @ (2 ** np.arange(BITS))
remainders = (numbers[:, None] % 7 >> np.arange(BITS)) & 1

X, Y = bits.astype("float32"), remainders.astype("float32")
order = np.random.RandomState(42).permutation(len(X))
X_test, Y_test = X[order[:2000]], Y[order[:2000]]
X_train, Y_train = X[order[2000:]], Y[order[2000:]]

model = keras.Sequential()
model.add(keras.Input(shape=(BITS,)))
model.add(Dense(20, activation="relu"))
model.add(Dense(20, activation="relu"))
model.add(Dense(20, activation="softmax"))

model.compile(
    optimizer=optimizers.Adam(learning_rate=0.0001),
    loss="categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(X_train, Y_train, batch_size=50, epochs=10, verbose=2, validation_data=(X_test, Y_test))

loss, accuracy = model.evaluate(X_test, Y_test, verbose=0)
print("loss:", loss)
print("accuracy:", accuracy)
