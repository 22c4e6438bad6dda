import keras
import numpy as np
from keras import Model, layers, regularizers

keras.utils.set_random_seed(5)

rng = np.random.default_rng(5)
numbers = rng.normal(size=(256, 6)).astype("float32")
words = rng.integers(1, 40, size=(256, 7))
price = numbers[:, 0] * 2 + (words < 10).sum(1) * 0.5


def build(vocabulary=40, units=16, l2=1e-4):
    numeric = keras.Input(shape=(6,), name="numeric")
    text = keras.Input(shape=(7,), dtype="int32", name="text")

    a = layers.Dense(units, activation="relu", kernel_regularizer=regularizers.L2(l2), name="numeric_dense")(numeric)
    b = layers.Embedding(vocabulary, 8, name="words")(text)
    b = layers.LSTM(12, dropout=0.1, name="reader")(b)

    merged = layers.concatenate([a, b])
    merged = layers.LayerNormalization(name="norm")(merged)
    merged = layers.Dense(units // 2, activation=keras.activations.elu, name="joint")(merged)
    output = layers.Dense(1, name="price")(merged)
    return Model(inputs=[numeric, text], outputs=output)


model = build(units=14)
model.compile(
    optimizer=keras.optimizers.Adam(
        learning_rate=keras.optimizers.schedules.ExponentialDecay(0.01, decay_steps=20, decay_rate=0.9),
        clipnorm=1.0,
    ),
    loss=keras.losses.Huber(),
    metrics=[keras.metrics.MeanAbsoluteError(name="mae")],
)
history = model.fit(
    {"numeric": numbers, "text": words},
    price,
    batch_size=32,
    epochs=3,
    validation_split=0.25,
    verbose=0,
)
print("val_mae: {:.4f}".format(history.history["val_mae"][-1]))
