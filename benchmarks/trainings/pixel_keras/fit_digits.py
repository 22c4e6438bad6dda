import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(404)

# ---------------------------------------------------------------- data
bunch = load_digits()
pixels = bunch.data.astype("float32")
labels = bunch.target
x_train, x_test, y_train, y_test = train_test_split(
    pixels, labels, test_size=0.25, random_state=404, stratify=labels
)

mean = x_train.mean(axis=0)
std = x_train.std(axis=0)
x_train = (x_train - mean) / std
x_test = (x_test - mean) / std
print("train", x_train.shape, "test", x_test.shape)


# ---------------------------------------------------------------- model
def residual_unit(x, units, rate):
    y = layers.Dense(units, activation="gelu")(x)
    y = layers.Dropout(rate)(y)
    y = layers.Dense(units)(y)
    return layers.LayerNormalization()(layers.Add()([x, y]))


def build(units=64, depth=2, rate=0.1):
    inp = keras.Input((64,))
    x = layers.Dense(units, activation="gelu")(inp)
    for _ in range(depth):
        x = residual_unit(x, units, rate)
    out = layers.Dense(10, activation="softmax")(x)
    return keras.Model(inp, out, name="digit_mlp")


model = build()
steps_per_epoch = int(np.ceil(0.85 * len(x_train) / 64))
schedule = keras.optimizers.schedules.CosineDecay(2e-3, decay_steps=10 * steps_per_epoch, alpha=0.05)
model.compile(
    optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

# ---------------------------------------------------------------- training
history = model.fit(
    x_train,
    y_train,
    validation_split=0.15,
    batch_size=64,
    epochs=10,
    verbose=2,
)

loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.4f}  test accuracy {acc:.4f}")
guess = model.predict(x_test, verbose=0).argmax(axis=1)
for digit in range(10):
    mask = y_test == digit
    print(f"  digit {digit}: recall {(guess[mask] == digit).mean():.3f}")
