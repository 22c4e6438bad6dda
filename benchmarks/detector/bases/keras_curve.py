"""A smooth function of four numbers, learned by a perceptron in Keras."""

import keras
from keras import layers

from reenact.testing.toys import curve

x, y = curve(rows=420, features=4, seed=2)
inputs = keras.Input((4,))
hidden = layers.Dense(21, activation="relu")(inputs)
hidden = layers.Dense(10, activation="relu")(hidden)
outputs = layers.Dense(1)(hidden)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss="mse", metrics=["mae"])
model.fit(x[:300], y[:300], epochs=12, batch_size=25, validation_data=(x[300:], y[300:]), verbose=2)
