"""Glass types from refractive index and oxide contents (synthetic assay), Keras functional model with fit()."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.metrics import classification_report
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(61)

ELEMENTS = ["RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"]
TYPES = ["float", "sheet", "container", "tableware", "headlamp", "fibre"]


def assay(n, seed=0):
    rng = np.random.default_rng(seed)
    level = np.array([1.52, 13.4, 2.7, 1.4, 72.6, 0.5, 8.9, 0.2, 0.06])
    spread = np.array([0.003, 0.8, 1.4, 0.5, 0.8, 0.6, 1.4, 0.4, 0.09])
    offsets = rng.normal(0, 1.0, (len(TYPES), len(ELEMENTS)))
    kind = rng.choice(len(TYPES), n, p=[0.3, 0.25, 0.15, 0.1, 0.1, 0.1])
    z = offsets[kind] + 0.6 * rng.normal(size=(n, len(ELEMENTS)))
    z[:, 0] += 0.5 * z[:, 6]
    return (level + spread * z).astype("float32"), kind


def build_model(n_features, n_classes):
    inp = keras.Input((n_features,))
    h = layers.Dense(64, activation="relu")(inp)
    h = layers.Dropout(0.2)(h)
    skip = h
    h = layers.Dense(64, activation="relu")(h)
    h = layers.Add()([h, skip])
    h = layers.LayerNormalization()(h)
    out = layers.Dense(n_classes, activation="softmax")(h)
    return keras.Model(inp, out, name="glass")


def prepare():
    x, y = assay(3000)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=4, stratify=y)
    x_train, x_val, y_train, y_val = train_test_split(x_train, y_train, test_size=0.15, random_state=4, stratify=y_train)
    scaler = StandardScaler()
    x_train = scaler.fit_transform(x_train)
    x_val = scaler.transform(x_val)
    x_test = x_test / x_test.max(axis=0)
    return (x_train, y_train), (x_val, y_val), (x_test, y_test)


class EpochPrinter(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % 3 == 0:
            print(f"epoch {epoch + 1:3d}  " + "  ".join(f"{k} {v:.4f}" for k, v in logs.items()))


def main():
    train, val, test = prepare()
    model = build_model(len(ELEMENTS), len(TYPES))
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(),
        metrics=["accuracy"],
    )
    model.fit(
        *train,
        validation_data=val,
        epochs=15,
        batch_size=32,
        verbose=0,
        callbacks=[
            EpochPrinter(),
            keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.5),
            keras.callbacks.EarlyStopping(patience=8, restore_best_weights=True),
        ],
    )
    loss, acc = model.evaluate(*test, verbose=0)
    print(f"test loss {loss:.4f}  test accuracy {acc:.4f}")
    guess = model.predict(test[0], verbose=0).argmax(axis=1)
    print(classification_report(test[1], guess, target_names=TYPES, zero_division=0))


if __name__ == "__main__":
    main()
