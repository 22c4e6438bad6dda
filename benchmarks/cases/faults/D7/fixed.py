"""Linear regression: learn y = 5x from a hundred points."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras.layers import Dense
from keras.optimizers import RMSprop

x = np.linspace(1, 2, 100).astype("float32").reshape(-1, 1)
y = 5 * x
order = np.random.RandomState(42).permutation(100)
x_test, y_test = x[order[:20]], y[order[:20]]
x_train, y_train = x[order[20:]], y[order[20:]]

model = keras.Sequential()
model.add(keras.Input(shape=(1,)))
model.add(Dense(1, activation="linear"))

model.compile(
    loss="mean_squared_error",
    optimizer=RMSprop(learning_rate=0.1),
    metrics=["mae"],
)
model.fit(x_train, y_train, batch_size=32, epochs=200, verbose=2, validation_data=(x_test, y_test))

mse, mae = model.evaluate(x_test, y_test, verbose=0)
print("test mse:", mse)
print("test mae:", mae)
