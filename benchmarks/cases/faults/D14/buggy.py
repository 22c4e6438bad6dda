"""Fit a parabola with five hidden neurons."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras.layers import Dense

x = np.linspace(-10, 10, 201).astype("float32").reshape(-1, 1)
y = x**2 + 3

order = np.random.RandomState(7).permutation(len(x))
x_test, y_test = x[order[:51]], y[order[:51]]
x_train, y_train = x[order[51:]], y[order[51:]]

model = keras.Sequential()
model.add(keras.Input(shape=(1,)))
model.add(Dense(5, activation="sigmoid"))
model.add(Dense(1, activation="sigmoid"))

model.compile(loss="mean_squared_error", optimizer="sgd", metrics=["mae"])
model.fit(
    x_train,
    y_train,
    epochs=1000,
    batch_size=len(x_train),
    verbose=2,
    validation_data=(x_test, y_test),
)

mse, mae = model.evaluate(x_test, y_test, verbose=0)
print("test mae:", mae)
print("test mse:", mse)
