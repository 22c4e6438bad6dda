"""Two kinds of vectors, all ones or all zeros: can a network tell them apart?"""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras.layers import Activation, Dense, Dropout
from keras.models import Sequential

X_train = np.array([[1] * 128] * 10000 + [[0] * 128] * 10000).astype("float32")
X_test = np.array([[1] * 128] * 100 + [[0] * 128] * 100).astype("float32")
Y_train = np.array([True] * 10000 + [False] * 10000)
Y_test = np.array([True] * 100 + [False] * 100)

model = Sequential()
model.add(keras.Input(shape=(128,)))
model.add(Dense(50))
model.add(Activation("relu"))
model.add(Dropout(0.2))
model.add(Dense(50))
model.add(Activation("relu"))
model.add(Dropout(0.2))
model.add(Dense(1))
model.add(Activation("sigmoid"))

model.compile(loss="binary_crossentropy", optimizer="rmsprop", metrics=["accuracy"])
model.fit(X_train, Y_train, batch_size=32, epochs=1, verbose=2, validation_data=(X_test, Y_test))

score = model.evaluate(X_test, Y_test, verbose=0)
print("Test score:", score[0])
print("Test accuracy:", score[1])
