"""Digit classification with Keras fit()."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(14)

NUM_CLASSES = 10
BATCH_SIZE = 64
EPOCHS = 10


def load_data():
    digits = load_digits()
    x = digits.images.astype("float32")[..., None] / 16.0
    y = digits.target.astype("int64")
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=14, stratify=y)
    x_train, x_val, y_train, y_val = train_test_split(x_train, y_train, test_size=0.15, random_state=14)
    return (x_train, y_train), (x_val, y_val), (x_test, y_test)


def build_model(input_shape=(8, 8, 1)):
    inputs = keras.Input(shape=input_shape)
    x = layers.Conv2D(12, 3, padding="same", activation="relu")(inputs)
    x = layers.MaxPooling2D(2)(x)
    x = layers.Conv2D(24, 3, padding="same", activation="relu")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(48, activation="relu")(x)
    outputs = layers.Dense(NUM_CLASSES, activation="softmax")(x)
    return keras.Model(inputs, outputs, name="digits")


class PrintProgress(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        line = " ".join(f"{k}={v:.4f}" for k, v in (logs or {}).items())
        print(f"epoch {epoch + 1}: {line}")


def main():
    (x_train, y_train), (x_val, y_val), (x_test, y_test) = load_data()
    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(learning_rate=1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        x_train,
        y_train,
        validation_data=(x_val, y_val),
        batch_size=BATCH_SIZE,
        epochs=EPOCHS,
        verbose=0,
        callbacks=[PrintProgress()],
    )
    loss, acc = model.evaluate(x_test, y_test, verbose=0)
    print(f"test loss {loss:.4f} test accuracy {acc:.4f}")
    wrong = np.flatnonzero(model.predict(x_test, verbose=0).argmax(1) != y_test)
    print(f"{len(wrong)} of {len(y_test)} wrong")


if __name__ == "__main__":
    main()
