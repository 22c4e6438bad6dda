"""A perceptron with two hidden layers on vectors of 784 numbers, trained by `fit`."""

import os
import time

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
random = np.random.default_rng(0)
centres = random.normal(size=(10, 784)).astype("float32")
labels = random.integers(0, 10, 6_400)
inputs = centres[labels] + 4 * random.normal(size=(6_400, 784)).astype("float32")

model = keras.Sequential(
    [
        keras.Input((784,)),
        layers.Dense(256, activation="relu"),
        layers.Dense(128, activation="relu"),
        layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])

wall, cpu = time.perf_counter(), time.process_time()
history = model.fit(inputs, labels, batch_size=64, epochs=8, verbose=0)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
for epoch, loss in enumerate(history.history["loss"]):
    print(f"epoch {epoch}: loss {loss:.8f}")
print(f"trained in {wall:.4f} s, {cpu:.4f} s of CPU")
