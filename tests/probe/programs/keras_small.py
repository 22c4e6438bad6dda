import hashlib

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(5)
x = np.random.normal(size=(96, 6)).astype("float32")
y = (x[:, 0] > 0).astype("float32")
model = keras.Sequential(
    [
        layers.Input((6,)),
        layers.Dense(12, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, batch_size=16, epochs=6, validation_split=0.25, verbose=0)
print(history.history)
print(model.evaluate(x, y, verbose=0))
print(
    hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest(),
    np.random.rand(),
)
