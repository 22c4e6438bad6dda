"""CIFAR-10 with two convolutions and one wide dense layer."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
from dataset import load_cifar10
from keras import layers

(x_train, y_train), (x_test, y_test) = load_cifar10()
x_train = x_train.astype("float32") / 255
x_test = x_test.astype("float32") / 255
y_train = keras.utils.to_categorical(y_train, 10)
y_test = keras.utils.to_categorical(y_test, 10)

model = keras.Sequential()
model.add(keras.Input(shape=(32, 32, 3)))
model.add(layers.Conv2D(256, (3, 3), activation="relu"))
model.add(layers.MaxPooling2D((2, 2)))
model.add(layers.Conv2D(128, (2, 2), activation="relu"))
model.add(layers.MaxPooling2D((2, 2)))
model.add(layers.Flatten())
model.add(layers.Dense(1024, activation="relu"))
model.add(layers.Dropout(0.5))
model.add(layers.Dense(10, activation="softmax"))

model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(
    x_train,
    y_train,
    epochs=15,
    batch_size=500,
    verbose=2,
    validation_data=(x_test, y_test),
)

test_loss, test_accuracy = model.evaluate(x_test, y_test, verbose=0)
print("test loss:", test_loss)
print("test accuracy:", test_accuracy)
