"""Rent of flats from their description, with keras.Model.fit."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.metrics import r2_score

FEATURES = ["area_m2", "year_built", "distance_to_centre_m", "floor", "income_district", "has_lift"]


def listings(n, seed):
    rng = np.random.default_rng(seed)
    area = rng.gamma(6, 13, n) + 15
    year = rng.integers(1890, 2024, n)
    distance = rng.gamma(2, 2500, n)
    floor = rng.integers(0, 9, n)
    income = rng.normal(42000, 9000, n)
    lift = (rng.random(n) < 0.2 + 0.08 * floor).astype(float)
    rent = (
        9.5 * area + 1.2 * (year - 1950) - 0.02 * distance + 0.006 * (income - 42000)
        + np.where(lift > 0, 12 * floor, -18 * floor) + rng.normal(0, 40, n)
    )
    return np.column_stack([area, year, distance, floor, income, lift]).astype("float32"), rent.astype("float32")


def build_model(n_features):
    model = keras.Sequential(
        [
            keras.Input((n_features,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(1),
        ],
        name="rent",
    )
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
    return model


class Report(keras.callbacks.Callback):
    def __init__(self, x, y, every=5):
        super().__init__()
        self.x, self.y, self.every = x, y, every

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            pred = self.model.predict(self.x, verbose=0).ravel()
            print(f"epoch {epoch + 1} loss {logs['loss']:.1f} val mae {logs['val_mae']:.1f} val R2 {r2_score(self.y, pred):.3f}")


def main():
    keras.utils.set_random_seed(1)
    x_train, y_train = listings(3000, 0)
    x_val, y_val = listings(800, 1)
    y_mean, y_std = y_train.mean(), y_train.std()
    print("features:", ", ".join(FEATURES))
    print(f"rent {y_mean:.0f} +- {y_std:.0f}")
    model = build_model(x_train.shape[1])
    model.summary()
    target, val_target = (y_train - y_mean) / y_std, (y_val - y_mean) / y_std
    model.fit(
        x_train,
        target,
        validation_data=(x_val, val_target),
        epochs=10,
        batch_size=64,
        shuffle=True,
        verbose=0,
        callbacks=[Report(x_val, val_target)],
    )
    mae = model.evaluate(x_val, val_target, verbose=0)[1] * y_std
    print(f"mean absolute error {mae:.0f} against {np.abs(y_val - y_mean).mean():.0f} for the mean rent")


if __name__ == "__main__":
    main()
