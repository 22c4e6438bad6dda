"""Compressor efficiency with an uncertainty band from Monte-Carlo dropout (Keras, torch backend)."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(90)
rng = np.random.default_rng(90)


def measure(n, low=-2.0, high=2.0):
    x = rng.uniform(low, high, size=(n, 3)).astype("float32")
    y = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] - 1.0 + 0.1 * rng.normal(size=n)
    return x, y.astype("float32")


x_train, y_train = measure(2500)
x_valid, y_valid = measure(500)
x_test, y_test = measure(500)
x_far, _ = measure(500, 3.5, 5.0)


def dropout_net(width=96, rate=0.08):
    inp = keras.Input((3,))
    h = layers.Dense(width, activation="swish")(inp)
    for _ in range(2):
        h = layers.Dropout(rate)(h)
        h = layers.Dense(width, activation="swish")(h)
    h = layers.Dropout(rate)(h)
    return keras.Model(inp, layers.Dense(1)(h))


model = dropout_net()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.LogCosh(),
    metrics=[keras.metrics.MeanAbsoluteError(name="mae")],
)
history = model.fit(
    x_train,
    y_train,
    validation_data=(x_valid, y_valid),
    epochs=10,
    batch_size=64,
    verbose=2,
    callbacks=[
        keras.callbacks.EarlyStopping("val_loss", patience=4, restore_best_weights=True),
        keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=2),
    ],
)


def mc_predict(x, draws=40):
    """Dropout stays on here by design: the spread of the draws is the uncertainty."""
    runs = np.stack([keras.ops.convert_to_numpy(keras.ops.stop_gradient(model(x, training=True)))[:, 0] for _ in range(draws)])
    return runs.mean(0), runs.std(0)


point = model.predict(x_test, verbose=0)[:, 0]
mean, std = mc_predict(x_test)
_, std_far = mc_predict(x_far)


def r2(y, p):
    return 1 - ((y - p) ** 2).sum() / ((y - y.mean()) ** 2).sum()


print(f"test r2: deterministic {r2(y_test, point):.3f}, mc mean {r2(y_test, mean):.3f}")
print(f"mc std: inside the measured range {std.mean():.3f}, outside {std_far.mean():.3f}")
covered = np.abs(y_test - mean) < 2 * np.sqrt(std**2 + 0.1**2)
print(f"share of test points inside the 2-sigma band {covered.mean():.3f}")
