"""One number in, two classes out: small and large readings."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras.layers import Activation, Dense

readings = np.random.RandomState(7).randint(15000, 25000, size=3000)
labels = (readings < 20000).astype("int64")

X = ((readings - readings.mean()) / readings.std()).astype("float32").reshape(-1, 1)
Y = keras.utils.to_categorical(labels, 2)
order = np.random.RandomState(42).permutation(len(X))
test, train = order[:600], order[600:]

model = keras.Sequential()
model.add(keras.Input(shape=(1,)))
model.add(Dense(1))
model.add(Activation("sigmoid"))
model.add(Dense(2, activation="softmax", kernel_initializer="random_normal"))

model.compile(loss="mean_absolute_error", optimizer="rmsprop", metrics=["accuracy"])
model.fit(X[train], Y[train], batch_size=200, epochs=10, verbose=2, validation_data=(X[test], Y[test]))

loss, accuracy = model.evaluate(X[test], Y[test], verbose=0)
print("loss:", loss)
print("accuracy:", accuracy)
