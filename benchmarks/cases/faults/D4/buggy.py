"""MNIST with one hidden layer of 30 neurons, trained by plain gradient descent."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
from dataset import load_mnist
from keras.initializers import RandomNormal
from keras.layers import Dense
from keras.optimizers import SGD

(train_images, train_labels), (test_images, test_labels) = load_mnist()
x_train = train_images.reshape(-1, 784).astype("float32") / 255
x_test = test_images.reshape(-1, 784).astype("float32") / 255
y_train = keras.utils.to_categorical(train_labels, 10)
y_test = keras.utils.to_categorical(test_labels, 10)


def gaussian():
    return RandomNormal(mean=0.0, stddev=1.0)


model = keras.Sequential()
model.add(keras.Input(shape=(784,)))
model.add(Dense(30, kernel_initializer=gaussian(), bias_initializer=gaussian()))
model.add(Dense(10, kernel_initializer=gaussian(), bias_initializer=gaussian()))

model.compile(
    optimizer=SGD(learning_rate=3.0),
    loss="mean_squared_error",
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=10, epochs=30, verbose=2, validation_data=(x_test, y_test))

score = model.evaluate(x_test, y_test, verbose=0)
print("Test loss:", score[0])
print("Test accuracy:", score[1])
