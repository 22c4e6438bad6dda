"""Handwritten digits with smoothed labels (Keras)."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(3)
digits = load_digits()
images = (digits.images / 16).astype("float32")[..., None]
labels = keras.utils.to_categorical(digits.target, 10)
order = np.random.default_rng(0).permutation(len(images))
train, test = order[:1200], order[1200:]

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(10),
    ]
)
loss = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.003), loss=loss, metrics=["accuracy"]
)
model.fit(images[train], labels[train], batch_size=64, epochs=6, verbose=0)
_, accuracy = model.evaluate(images[test], labels[test], verbose=0)
print(f"test accuracy {accuracy:.4f}")
