"""Two half circles, classified by a network with tanh units in Keras."""

import keras
from keras import layers

from reenact.testing.toys import moons

x, y = moons(rows=420, noise=0.2, seed=4)
model = keras.Sequential()
model.add(keras.Input((2,)))
model.add(layers.Dense(17, activation="tanh", kernel_initializer="glorot_uniform"))
model.add(layers.Dropout(0.1))
model.add(layers.Dense(8, activation="tanh"))
model.add(layers.Dense(1, activation="sigmoid"))
model.compile(
    optimizer=keras.optimizers.RMSprop(learning_rate=0.02), loss="binary_crossentropy", metrics=["accuracy"]
)
model.fit(x[:280], y[:280], epochs=12, batch_size=28, validation_data=(x[280:], y[280:]), verbose=2)
