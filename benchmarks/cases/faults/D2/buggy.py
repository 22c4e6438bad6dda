"""Higgs boson challenge: signal or background?"""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from dataset import load_higgs
from keras.layers import Dense, Dropout
from keras.models import Sequential

x, y = load_higgs(rows=10000)
order = np.random.RandomState(42).permutation(len(x))
held_out = len(x) * 3 // 10
x_test, y_test = x[order[:held_out]], y[order[:held_out]]
x_train, y_train = x[order[held_out:]], y[order[held_out:]]

model = Sequential()
model.add(keras.Input(shape=(x_train.shape[1],)))
model.add(Dense(600, activation="relu"))
model.add(Dropout(0.5))
model.add(Dense(400, activation="relu"))
model.add(Dropout(0.5))
model.add(Dense(100, activation="relu"))
model.add(Dropout(0.5))
model.add(Dense(1, activation="sigmoid"))

model.compile(
    loss="binary_crossentropy",
    optimizer="rmsprop",
    metrics=["accuracy"],
)
model.fit(
    x_train,
    y_train,
    epochs=1,
    batch_size=1,
    verbose=2,
    validation_data=(x_test, y_test),
)

loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("Loss:", loss)
print("Accuracy:", accuracy)
