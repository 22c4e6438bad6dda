"""Digits: two convolutions with padding and two dense layers on MNIST."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
from dataset import load_mnist

(x_train, y_train), (x_test, y_test) = load_mnist()

x_train = x_train / 255.0
y_train = y_train / 255.0

x_train = x_train.reshape(-1, 28, 28, 1)
x_test = x_test.reshape(-1, 28, 28, 1)
y_train = y_train.reshape(-1, 1)
y_test = y_test.reshape(-1, 1)

model = keras.Sequential(
    [
        keras.Input(shape=(28, 28, 1)),
        keras.layers.Conv2D(64, (3, 3), (1, 1), padding="same"),
        keras.layers.MaxPooling2D(pool_size=(2, 2), padding="valid"),
        keras.layers.Conv2D(32, (3, 3), (1, 1), padding="same"),
        keras.layers.MaxPooling2D(pool_size=(2, 2), padding="valid"),
        keras.layers.Flatten(),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ]
)

model.compile(
    optimizer="adam",
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=32, epochs=10, verbose=2, validation_data=(x_test, y_test))

test_loss, test_acc = model.evaluate(x_test, y_test, verbose=0)
print("test loss:", test_loss)
print("test accuracy:", test_acc)
