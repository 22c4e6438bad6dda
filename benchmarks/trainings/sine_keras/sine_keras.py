"""Bike demand regression with Keras on the torch backend."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from keras import layers

SEED = 2
EPOCHS, BATCH = 10, 64


def bike_days(n, seed):
    rng = np.random.default_rng(seed)
    temp = rng.normal(14, 8, n)
    wind = rng.gamma(2, 4, n)
    rain = rng.binomial(1, 0.3, n) * rng.exponential(3, n)
    weekend = rng.binomial(1, 2 / 7, n)
    rides = 900 + 70 * temp - 1.4 * temp**2 * (temp > 20) - 20 * wind - 160 * np.sqrt(rain) + 250 * weekend * (rain == 0)
    rides += rng.normal(0, 60, n)
    return np.stack([temp, wind, rain, weekend], 1).astype("float32"), rides.astype("float32")[:, None]


def build(x_train, steps):
    norm = layers.Normalization()
    norm.adapt(x_train)
    inputs = keras.Input((4,))
    h = norm(inputs)
    h = layers.Dense(64, activation="relu", kernel_initializer="he_normal")(h)
    h = layers.Dropout(0.05)(h)
    h = layers.Dense(32, activation="relu", kernel_initializer="he_normal")(h)
    outputs = layers.Dense(1, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01))(h)
    schedule = keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=1e-4, decay_steps=steps, warmup_target=5e-3, warmup_steps=30
    )
    model = keras.Model(inputs, outputs)
    model.compile(optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-4), loss="huber", metrics=["mae"])
    return model


def main():
    keras.utils.set_random_seed(SEED)
    x_train, y_train = bike_days(2500, 0)
    x_val, y_val = bike_days(600, 1)
    mean, std = y_train.mean(), y_train.std()
    model = build(x_train, steps=EPOCHS * len(x_train) // BATCH)
    history = model.fit(
        x_train, (y_train - mean) / std,
        validation_data=(x_val, (y_val - mean) / std),
        epochs=EPOCHS, batch_size=BATCH, verbose=0,
        callbacks=[keras.callbacks.TerminateOnNaN()],
    )
    for epoch, row in enumerate(zip(history.history["loss"], history.history["val_loss"], history.history["val_mae"]), 1):
        print("epoch {:2d} loss {:.4f} val loss {:.4f} val mae {:.4f}".format(epoch, *row))
    pred = model.predict(x_val, verbose=0) * std + mean
    print(f"mean absolute error {np.abs(pred - y_val).mean():.1f} rides, spread {y_val.std():.1f}")


if __name__ == "__main__":
    main()
