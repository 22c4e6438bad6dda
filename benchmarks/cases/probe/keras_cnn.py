"""Two convolutions of 16 and 32 channels on pictures of 28 x 28, trained by `fit`."""

import os
import time

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
random = np.random.default_rng(0)
centres = random.normal(size=(10, 28, 28, 1)).astype("float32")
labels = random.integers(0, 10, 1_600)
images = centres[labels] + 3 * random.normal(size=(1_600, 28, 28, 1)).astype("float32")

model = keras.Sequential(
    [
        keras.Input((28, 28, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.25),
        layers.Dense(10),
    ]
)
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.01, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

wall, cpu = time.perf_counter(), time.process_time()
history = model.fit(images, labels, batch_size=32, epochs=7, verbose=0)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
for epoch, loss in enumerate(history.history["loss"]):
    print(f"epoch {epoch}: loss {loss:.8f}")
print(f"trained in {wall:.4f} s, {cpu:.4f} s of CPU")
