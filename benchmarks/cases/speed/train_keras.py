"""Two rings of points, one inside the other: Keras's `fit` on a network that is given on the command line."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=500)
parser.add_argument("--width", type=int, default=32)
parser.add_argument("--depth", type=int, default=2)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()

keras.utils.set_random_seed(options.seed)
rng = np.random.default_rng(options.seed)
angles = 6.2832 * rng.random(800)
labels = rng.integers(0, 2, 800)
radii = 1.0 + labels + 0.2 * rng.standard_normal(800)
points = np.stack([radii * np.cos(angles), radii * np.sin(angles)], 1)

hidden = [keras.layers.Dense(options.width, activation="relu") for _ in range(options.depth)]
model = keras.Sequential([keras.Input((2,)), *hidden, keras.layers.Dense(2, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
# 25 steps an epoch.
history = model.fit(points, labels, batch_size=32, epochs=max(1, options.steps // 25), verbose=0)
print(f"test accuracy: {history.history['accuracy'][-1]:.4f}")
