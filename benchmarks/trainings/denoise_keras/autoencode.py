"""Denoising autoencoder of handwritten digits with Keras fit()."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(1)
clean = (load_digits().data / 16.0).astype("float32")
print("data", clean.shape, "range", clean.min(), clean.max())


class Corrupt(layers.Layer):
    """Gaussian noise and dropped pixels, while training and while predicting."""

    def __init__(self, sd=0.25, p=0.2, **kw):
        super().__init__(**kw)
        self.sd, self.p = sd, p
        self.gen = keras.random.SeedGenerator(3)

    def call(self, x):
        noisy = x + self.sd * keras.random.normal(keras.ops.shape(x), seed=self.gen)
        keep = keras.random.uniform(keras.ops.shape(x), seed=self.gen) > self.p
        return noisy * keras.ops.cast(keep, "float32")


inp = keras.Input((64,))
h = Corrupt()(inp)
h = layers.Dense(128, activation="relu")(h)
code = layers.Dense(16, name="code")(h)
h = layers.Dense(128, activation="relu")(code)
out = layers.Dense(64, activation="sigmoid")(h)
auto = keras.Model(inp, out)

auto.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["mse"])
hist = auto.fit(
    clean[:1500], clean[:1500],
    validation_data=(clean[1500:], clean[1500:]),
    epochs=15,
    batch_size=50,
    shuffle=False,
    verbose=2,
)

def shade(img):
    """Rough text picture of one 8x8 digit."""
    marks = " .:+#@"
    return ["".join(marks[int(min(0.999, max(0.0, v)) * 6)] for v in row) for row in img.reshape(8, 8)]


back = auto.predict(clean[1500:1504], verbose=0)
for k in range(4):
    print("\n".join(f"{a}   {b}" for a, b in zip(shade(clean[1500 + k]), shade(back[k]))), end="\n\n")

mean_img = clean[:1500].mean(0)
const = float(((clean[1500:] - mean_img) ** 2).mean())
rng = np.random.default_rng(0)
noisy = clean[1500:] + 0.25 * rng.normal(size=clean[1500:].shape)
noisy *= rng.random(noisy.shape) > 0.2
print("pixel mse: corrupted input %.4f, mean image %.4f, autoencoder %.4f"
      % (((noisy - clean[1500:]) ** 2).mean(), const, hist.history["val_mse"][-1]))
