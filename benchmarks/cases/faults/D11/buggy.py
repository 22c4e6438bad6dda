"""Vectors of ones against vectors of zeros, one sample at a time."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras.layers import Activation, Dense, Dropout

per_class = 10000
x_train = np.concatenate([np.ones((per_class, 128)), np.zeros((per_class, 128))]).astype("float32")
y_train = np.concatenate([np.ones(per_class), np.zeros(per_class)]).astype("bool")
x_test = np.concatenate([np.ones((100, 128)), np.zeros((100, 128))]).astype("float32")
y_test = np.concatenate([np.ones(100), np.zeros(100)]).astype("bool")

model = keras.Sequential(
    [
        keras.Input(shape=(128,)),
        Dense(50, activation="relu"),
        Activation("relu"),
        Dropout(0.2),
        Dense(50),
        Activation("relu"),
        Dropout(0.2),
        Dense(1),
        Activation("softmax"),
    ]
)

model.compile(loss="binary_crossentropy", optimizer=keras.optimizers.RMSprop(), metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=1, epochs=3, verbose=2, validation_data=(x_test, y_test))

loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("Test loss:", loss)
print("Test accuracy:", accuracy)
