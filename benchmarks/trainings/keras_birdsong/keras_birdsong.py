"""Bird calls from small spectrograms with Keras: class weights, plateau schedule, early stopping, noise augmentation layers."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.metrics import balanced_accuracy_score

SPECIES = ["wren", "owl", "thrush"]


def call(kind, rng, bands=16, frames=20):
    spec = rng.gamma(2, 0.15, (bands, frames))
    start = rng.integers(0, 6)
    for f in range(12):
        t = start + f
        if kind == 0:
            b = 4 + f % 6
        elif kind == 1:
            b = 3
        else:
            b = 13 - f // 2
        spec[b % bands, t] += rng.uniform(0.8, 1.6)
    return np.log1p(spec)


def recordings(n, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.choice(3, n, p=[0.75, 0.18, 0.07])
    return np.stack([call(k, rng) for k in kinds]).astype("float32")[..., None], kinds


def build(mean, std):
    inputs = keras.Input((16, 20, 1))
    x = layers.Normalization(mean=mean, variance=std**2, axis=None)(inputs)
    x = layers.GaussianNoise(0.2)(x)
    for filters in (8, 16):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.Activation("relu")(x)
        x = layers.MaxPooling2D(2)(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.3)(x)
    outputs = layers.Dense(len(SPECIES))(x)
    return keras.Model(inputs, outputs)


def class_weights(labels):
    counts = np.bincount(labels)
    return {k: len(labels) / (len(counts) * c) for k, c in enumerate(counts)}


def main():
    keras.utils.set_random_seed(0)
    x, y = recordings(900, 0)
    x_val, y_val = recordings(300, 1)
    x_test, y_test = recordings(400, 2)
    model = build(float(x.mean()), float(x.std()))
    model.compile(
        optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-3, clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        x, y, batch_size=32, epochs=7, validation_data=(x_val, y_val), class_weight=class_weights(y), verbose=2,
        callbacks=[
            keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=2, min_lr=1e-5),
            keras.callbacks.EarlyStopping(patience=4, restore_best_weights=True),
        ],
    )
    guess = model.predict(x_test, verbose=0).argmax(1)
    print(f"test balanced accuracy {balanced_accuracy_score(y_test, guess):.3f}")


if __name__ == "__main__":
    main()
