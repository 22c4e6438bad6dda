"""Rent of flats relative to the district mean, Keras functional model."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from keras import layers
from sklearn.compose import ColumnTransformer
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

SEED = 10
keras.utils.set_random_seed(SEED)

DISTRICTS = ["north", "harbour", "old town", "hill", "fields"]


def collect_listings(n=3000):
    rng = np.random.default_rng(SEED)
    district = rng.integers(0, len(DISTRICTS), n)
    area = rng.gamma(6, 11, n) + 15
    floor = rng.integers(0, 9, n)
    year = rng.integers(1890, 2024, n)
    lift = rng.random(n) < 0.5
    level = np.array([10.0, 13.5, 16.0, 14.0, 9.0])[district]
    rent = area * level * (1 - 0.0012 * (area - 60)) + 14 * floor * (2 * lift - 1)
    rent += 0.9 * (year - 1950) * (year > 1990) + rng.normal(0, 40, n)
    numeric = np.stack([area, floor, year, lift], axis=1)
    return numeric, district.reshape(-1, 1), rent


def prepare():
    numeric, district, rent = collect_listings()
    table = np.hstack([numeric, district])
    train, test, y_train, y_test = train_test_split(table, rent, test_size=0.2, random_state=SEED)
    pre = ColumnTransformer(
        [("num", StandardScaler(), [0, 1, 2, 3]), ("cat", OneHotEncoder(handle_unknown="ignore", sparse_output=False), [4])]
    )
    x_train = pre.fit_transform(train).astype("float32")
    x_test = pre.transform(test).astype("float32")
    y_scaler = StandardScaler().fit(y_train.reshape(-1, 1))
    return (
        x_train,
        y_scaler.transform(y_train.reshape(-1, 1)).astype("float32"),
        x_test,
        y_test,
        y_scaler,
    )


def build_model(n_features):
    inputs = keras.Input((n_features,), name="listing")
    x = layers.Dense(64, activation="relu")(inputs)
    x = layers.Dense(32, activation="relu")(x)
    outputs = layers.Dense(1, activation="relu", name="rent")(x)
    model = keras.Model(inputs, outputs)
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
    return model


def main():
    x_train, y_train, x_test, y_test, y_scaler = prepare()
    model = build_model(x_train.shape[1])
    model.summary(print_fn=print)
    stop = keras.callbacks.EarlyStopping("val_loss", patience=6, restore_best_weights=True)
    history = model.fit(
        x_train, y_train,
        validation_split=0.15,
        epochs=20,
        batch_size=64,
        callbacks=[stop],
        verbose=2,
    )
    pred = y_scaler.inverse_transform(model.predict(x_test, verbose=0)).ravel()
    print(f"best val_loss {min(history.history['val_loss']):.4f}")
    print(f"test MAE {mean_absolute_error(y_test, pred):.1f} EUR  R2 {r2_score(y_test, pred):.4f}")


if __name__ == "__main__":
    main()
