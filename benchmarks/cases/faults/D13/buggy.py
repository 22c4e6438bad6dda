"""Three species of iris from four measures of the flower."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from dataset import load_iris
from keras.layers import Dense

measures, species = load_iris()
X = measures.astype("float32")
Y = keras.utils.to_categorical(species, 3)

order = np.random.RandomState(7).permutation(len(X))
test, train = order[:45], order[45:]

model = keras.Sequential()
model.add(keras.Input(shape=(4,)))
model.add(Dense(4, activation="relu", kernel_initializer="random_normal"))
model.add(Dense(3, activation="sigmoid", kernel_initializer="random_normal"))

model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(X[train], Y[train], epochs=200, batch_size=5, verbose=2, validation_data=(X[test], Y[test]))

loss, accuracy = model.evaluate(X[test], Y[test], verbose=0)
print("loss:", loss)
print("accuracy:", accuracy)
