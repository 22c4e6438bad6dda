"""A toy data set: two squares of points in the plane, one for each class."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras.layers import Dense
from keras.models import Sequential
from keras.optimizers import Adam

rng = np.random.RandomState(42)
low = rng.uniform(0.2, 0.4, size=(100, 2))
high = rng.uniform(0.5, 0.7, size=(100, 2))

points = np.empty((200, 2), dtype="float32")
points[0::2] = low
points[1::2] = high
classes = keras.utils.to_categorical(np.arange(200) % 2, 2)

order = np.random.RandomState(42).permutation(200)
x_test, y_test = points[order[:40]], classes[order[:40]]
x_train, y_train = points[order[40:]], classes[order[40:]]

model = Sequential()
model.add(keras.Input(shape=(2,)))
model.add(Dense(2, activation="sigmoid"))
model.add(Dense(2, activation="sigmoid"))

model.compile(
    optimizer=Adam(learning_rate=0.1),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
model.fit(
    x_train,
    y_train,
    batch_size=32,
    epochs=100,
    verbose=2,
    validation_data=(x_test, y_test),
)

loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("loss:", loss)
print("accuracy:", accuracy)
