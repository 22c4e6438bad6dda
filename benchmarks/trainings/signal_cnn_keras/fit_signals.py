"""1-D CNN on short waveforms (sine / square / saw / chirp / burst)."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)

N, T, K = 2400, 64, 5
KINDS = ["sine", "square", "saw", "chirp", "burst"]


def waveform(kind):
    t = np.linspace(0, 1, T)
    f, ph, amp = rng.uniform(2, 6), rng.uniform(0, 2 * np.pi), rng.uniform(0.6, 1.4)
    if kind == "sine":
        y = np.sin(2 * np.pi * f * t + ph)
    elif kind == "square":
        y = np.sign(np.sin(2 * np.pi * f * t + ph))
    elif kind == "saw":
        y = 2 * ((f * t + ph) % 1.0) - 1
    elif kind == "chirp":
        y = np.sin(2 * np.pi * (f * t + 5 * t ** 2) + ph)
    else:
        y = np.sin(2 * np.pi * 12 * t + ph) * np.exp(-((t - rng.uniform(0.2, 0.8)) / 0.1) ** 2)
    return amp * y + rng.normal(0, 0.25, T)


def build_arrays():
    xs, ys = [], []
    for k, kind in enumerate(KINDS):
        for _ in range(N // K):
            xs.append(waveform(kind))
            ys.append(k)
    return np.asarray(xs, dtype="float32")[..., None], np.asarray(ys, dtype="int64")


def build_model():
    inp = keras.Input((T, 1))
    x = layers.Conv1D(24, 7, padding="same", activation="relu")(inp)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(32, 5, padding="same", activation="relu")(x)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(32, 3, padding="same", activation="relu")(x)
    x = layers.GlobalMaxPooling1D()(x)
    x = layers.Dropout(0.2)(x)
    out = layers.Dense(K, activation="softmax")(x)
    return keras.Model(inp, out)


x, y = build_arrays()
x = (x - x.mean()) / x.std()

# mix the classes before cutting off the validation part
x = x[rng.permutation(len(x))]
y = y[rng.permutation(len(y))]
cut = int(0.8 * len(x))
x_tr, x_va, y_tr, y_va = x[:cut], x[cut:], y[:cut], y[cut:]
print("train", x_tr.shape, np.bincount(y_tr), "val", x_va.shape, np.bincount(y_va))

model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
hist = model.fit(
    x_tr, y_tr,
    validation_data=(x_va, y_va),
    epochs=8,
    batch_size=64,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.5)],
)
print("best val accuracy: %.3f" % max(hist.history["val_accuracy"]))
