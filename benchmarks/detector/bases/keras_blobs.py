"""Five clouds of points, classified by a multi-layer perceptron in Keras."""

import keras
from keras import layers

from reenact.testing.toys import blobs

x, y = blobs(rows=480, features=9, classes=5, seed=3, spread=2.0)
model = keras.Sequential([
    keras.Input((9,)),
    layers.Dense(26, activation="relu"),
    layers.Dense(12, activation="relu"),
    layers.Dense(5, activation="softmax"),
])
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.006),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x[:320], y[:320], epochs=12, batch_size=32, validation_data=(x[320:], y[320:]), verbose=2)
