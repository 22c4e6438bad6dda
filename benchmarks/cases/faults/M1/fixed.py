"""Handwritten digits: a convolutional network on MNIST."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
from dataset import load_mnist
from keras import layers

num_classes = 10
batch_size = 128
epochs = 12

(x_train, y_train), (x_test, y_test) = load_mnist()
x_train = x_train.reshape(-1, 28, 28, 1).astype("float32") / 255
x_test = x_test.reshape(-1, 28, 28, 1).astype("float32") / 255
y_train = keras.utils.to_categorical(y_train, num_classes)
y_test = keras.utils.to_categorical(y_test, num_classes)

model = keras.Sequential()
model.add(keras.Input(shape=(28, 28, 1)))
model.add(layers.Conv2D(32, kernel_size=(3, 3), activation="relu"))
model.add(layers.Conv2D(64, kernel_size=(3, 3), activation="relu"))
model.add(layers.MaxPooling2D(pool_size=(2, 2)))
model.add(layers.Dropout(0.25))
model.add(layers.Flatten())
model.add(layers.Dense(128, activation="relu"))
model.add(layers.Dropout(0.5))
model.add(layers.Dense(num_classes, activation="softmax"))

model.compile(
    loss="categorical_crossentropy",
    optimizer=keras.optimizers.Adadelta(learning_rate=1.0),
    metrics=["accuracy"],
)
model.fit(
    x_train,
    y_train,
    batch_size=batch_size,
    epochs=epochs,
    verbose=2,
    validation_data=(x_test, y_test),
)

loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("Test loss:", loss)
print("Test accuracy:", accuracy)
