"""Drag of sailing hulls from shape coefficients with keras.Model.fit."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(55)


def hulls(n=2500):
    rng = np.random.default_rng(55)
    froude = rng.uniform(0.12, 0.45, n)
    buoyancy = rng.uniform(-5, 0, n)
    prismatic = rng.uniform(0.53, 0.6, n)
    displacement = rng.uniform(4.3, 5.2, n)
    beam = rng.uniform(2.8, 5.4, n)
    drag = 0.4 * np.exp(10.5 * froude) * (1 + 3 * (prismatic - 0.565)) * (beam / 4) ** 0.5
    drag = drag * (1 + 0.05 * buoyancy) / displacement * 4.7 + rng.normal(0, 0.3, n)
    features = np.column_stack([froude, buoyancy, prismatic, displacement, beam])
    target = np.log1p(np.maximum(drag, 0))
    return features.astype("float32"), target.astype("float32")


def build_model(normalizer):
    inputs = keras.Input(shape=(5,))
    x = normalizer(inputs)
    x = layers.Dense(64, activation="relu")(x)
    x = layers.Dense(64, activation="relu")(x)
    x = layers.Dense(32, activation="relu")(x)
    outputs = layers.Dense(1)(x)
    return keras.Model(inputs, outputs, name="hull_drag")


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1:2d} - loss {logs['loss']:.4f} - mae {logs['mae']:.4f} "
              f"- val_loss {logs['val_loss']:.4f} - val_mae {logs['val_mae']:.4f}")


def main():
    x, y = hulls()
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=1)
    normalizer = layers.Normalization()
    normalizer.adapt(x_train)
    model = build_model(normalizer)
    model.compile(
        optimizer=keras.optimizers.Adam(learning_rate=0.5),
        loss="mse",
        metrics=["mae"],
    )
    model.fit(x_train, y_train, validation_split=0.15, epochs=12, batch_size=32, verbose=0, callbacks=[Report()])
    mse, mae = model.evaluate(x_test, y_test, verbose=0)
    print(f"test: R2 {1 - mse / y_test.var():.4f}, MAE {mae:.4f} (log units)")


if __name__ == "__main__":
    main()
