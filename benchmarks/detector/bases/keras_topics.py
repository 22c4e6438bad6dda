"""Short sequences of symbols about one of four topics, classified in Keras by the mean of their embeddings."""

import keras
import numpy as np
from keras import layers

chance = np.random.default_rng(9)
y = chance.integers(0, 4, 400)
own = y[:, None] * 10 + chance.integers(0, 10, (400, 12))
words = np.where(chance.random((400, 12)) < 0.35, own, chance.integers(0, 60, (400, 12)))
model = keras.Sequential([
    keras.Input((12,), dtype="int32"),
    layers.Embedding(60, 9),
    layers.GlobalAveragePooling1D(),
    layers.Dense(16, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-4)),
    layers.Dense(4, activation="softmax"),
])
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.02),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(words[:280], y[:280], epochs=12, batch_size=28, validation_data=(words[280:], y[280:]), verbose=2)
