import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(12)
TOPICS, WORDS = 6, 200


def notes(rows, seed):
    themes = np.random.default_rng(0).dirichlet(np.full(WORDS, 0.15), TOPICS)
    random = np.random.default_rng(seed)
    pairs = random.integers(0, TOPICS, (rows, 2))
    counts = np.stack([random.multinomial(60, themes[pair].mean(0)) for pair in pairs])
    return np.minimum(counts, 1).astype("float32"), keras.utils.to_categorical(pairs.sum(1) % TOPICS, TOPICS)


x_train, y_train = notes(2400, 1)
x_test, y_test = notes(400, 2)

model = keras.Sequential(
    [
        keras.Input((WORDS,)),
        layers.Dense(64),
        layers.Dense(32),
        layers.Dense(TOPICS),
    ]
)
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=1e-5), loss="mean_squared_error", metrics=["accuracy"]
)
model.fit(x_train, y_train, epochs=6, batch_size=32, validation_data=(x_test, y_test), verbose=2)
print(model.evaluate(x_test, y_test, verbose=0))
