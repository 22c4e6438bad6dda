"""Bars of three directions in grey pictures, classified by a small convolutional network in Keras."""

import keras
from keras import layers

from reenact.testing.toys import images

pictures, y = images(rows=330, side=8, classes=3, seed=7)
grey = (pictures.transpose(0, 2, 3, 1) * 255).round()
x = grey / 255.0
labels = keras.utils.to_categorical(y, 3)
model = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(6, 3, activation="relu"),
    layers.MaxPooling2D(2),
    layers.Flatten(),
    layers.Dense(19, activation="relu"),
    layers.Dense(3, activation="softmax"),
])
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.004), loss="categorical_crossentropy", metrics=["accuracy"]
)
model.fit(x[:220], labels[:220], epochs=10, batch_size=22, validation_data=(x[220:], labels[220:]), verbose=2)
