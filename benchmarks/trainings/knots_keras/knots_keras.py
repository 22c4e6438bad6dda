"""Knot types in rope photographs: 10 classes out of digits-like 8x8 thumbnails (sklearn's digits stand in)."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def load(seed=4):
    d = load_digits()
    rng = np.random.default_rng(seed)
    x = d.images / 16.0 + rng.normal(0, 0.2, d.images.shape)
    return train_test_split(x[..., None].astype("float32"), d.target, test_size=0.3, random_state=seed, stratify=d.target)


def make_net():
    return keras.Sequential(
        [
            keras.Input(shape=(8, 8, 1)),
            layers.Conv2D(12, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(48, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ],
        name="knots",
    )


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1:2d} loss {logs['loss']:.4f} acc {logs['accuracy']:.3f} val_acc {logs['val_accuracy']:.3f}")


def main():
    keras.utils.set_random_seed(1)
    x_train, x_test, y_train, y_test = load()
    model = make_net()
    print("weights:", model.count_params())
    model.compile(
        optimizer=keras.optimizers.SGD(learning_rate=0.05, momentum=0.5),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(x_train, y_train, batch_size=32, epochs=12, validation_data=(x_test, y_test), verbose=0, callbacks=[Report()])
    p = model.predict(x_test, verbose=0)
    nll = -np.log(p[np.arange(len(y_test)), y_test] + 1e-9).mean()
    print(f"test accuracy {(p.argmax(1) == y_test).mean():.3f}, log loss of the probabilities {nll:.3f}")
    worst = np.bincount(y_test[p.argmax(1) != y_test], minlength=10)
    print("misread by class", worst.tolist())
    print("mean top probability", round(float(ops.convert_to_numpy(ops.max(p, axis=1)).mean()), 3))


if __name__ == "__main__":
    main()
