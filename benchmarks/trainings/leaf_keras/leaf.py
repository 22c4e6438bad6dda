"""Transfer learning in Keras: train on many leaf kinds, freeze the base, train a head for three new kinds."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(29)
POINTS = 48


def outlines(n, kinds, seed):
    """Radius of the leaf outline as a function of the angle; kind sets number and depth of lobes."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, len(kinds), n)
    lobes = np.array([k[0] for k in kinds])[kind][:, None]
    depth = np.array([k[1] for k in kinds])[kind][:, None] * rng.uniform(0.8, 1.2, (n, 1))
    phi = np.linspace(0, 2 * np.pi, POINTS, endpoint=False) + rng.uniform(0, 2 * np.pi, (n, 1))
    r = 1 + depth * np.cos(lobes * phi) + rng.normal(0, 0.08, (n, POINTS))
    return (r - 1)[..., None].astype("float32"), kind.astype("int64")


BASE_KINDS = [(2, 0.2), (3, 0.2), (4, 0.3), (5, 0.2), (6, 0.3), (8, 0.2)]
NEW_KINDS = [(3, 0.35), (5, 0.35), (7, 0.3)]


def make_base():
    inputs = keras.Input((POINTS, 1))
    x = layers.Conv1D(16, 7, padding="same", activation="relu")(inputs)
    x = layers.Conv1D(24, 7, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(inputs, x, name="leaf_base")


def main():
    base = make_base()
    pre = keras.Sequential([base, layers.Dense(len(BASE_KINDS))])
    pre.compile(keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    x, y = outlines(1500, BASE_KINDS, 0)
    pre.fit(x, y, epochs=8, batch_size=32, validation_split=0.1, verbose=2)

    base.trainable = False
    inputs = keras.Input((POINTS, 1))
    features = base(inputs, training=False)
    outputs = layers.Dense(len(NEW_KINDS))(features)
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer=keras.optimizers.Adam(3e-2),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    print("trainable weights:", sum(int(np.prod(w.shape)) for w in model.trainable_weights))
    x_few, y_few = outlines(150, NEW_KINDS, 1)
    x_val, y_val = outlines(300, NEW_KINDS, 2)
    history = model.fit(x_few, y_few, validation_data=(x_val, y_val), epochs=20, batch_size=16, verbose=2)
    print("val accuracy of the new head:", round(history.history["val_accuracy"][-1], 4))


if __name__ == "__main__":
    main()
