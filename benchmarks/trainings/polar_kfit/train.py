"""Wind direction regression with Keras: unit-vector targets, a cosine loss that goes to -1, callbacks and sample weights."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(38)


def stations(n, rng):
    """Pressure at eight stations around a low-pressure centre; the wind follows the gradient, turned by friction."""
    angles = np.arange(8) * 2 * np.pi / 8
    direction = rng.uniform(-np.pi, np.pi, n)
    strength = rng.gamma(3.0, 1.0, n)
    pressure = strength[:, None] * np.cos(angles[None, :] - direction[:, None] + 0.5)
    pressure += 0.3 * strength[:, None] * np.cos(2 * (angles[None, :] - direction[:, None]))
    pressure += 0.5 * rng.standard_normal((n, 8))
    wind = direction + 0.35
    target = np.stack([np.cos(wind), np.sin(wind)], axis=1)
    weight = np.clip(strength / 3.0, 0.2, 2.0)
    return pressure.astype("float32"), target.astype("float32"), weight.astype("float32")


@keras.saving.register_keras_serializable()
class UnitNorm(layers.Layer):
    def call(self, x):
        return x / (ops.norm(x, axis=-1, keepdims=True) + 1e-6)


def angle_error(y_true, y_pred):
    dot = ops.sum(y_true * y_pred, axis=-1)
    return ops.mean(ops.arccos(ops.clip(dot, -0.99999, 0.99999))) * (180.0 / np.pi)


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1:2d}  loss {logs['loss']:+.4f}  val_loss {logs['val_loss']:+.4f}  "
              f"val angle error {logs['val_angle_error']:.2f} deg")


def main():
    rng = np.random.default_rng(38)
    x, y, w = stations(3200, rng)
    x_val, y_val, w_val = stations(800, rng)
    norm = layers.Normalization()
    norm.adapt(x)

    inputs = keras.Input((8,))
    h = norm(inputs)
    h = layers.GaussianNoise(0.05)(h)
    h = layers.Dense(64, activation="swish")(h)
    h = layers.Dense(64, activation="swish", kernel_regularizer=keras.regularizers.L2(1e-4))(h)
    outputs = UnitNorm()(layers.Dense(2)(h))
    model = keras.Model(inputs, outputs)

    epochs, batch = 8, 64
    rate = keras.optimizers.schedules.CosineDecay(
        1e-4, decay_steps=epochs * len(x) // batch, warmup_target=8e-3, warmup_steps=60)
    model.compile(
        optimizer=keras.optimizers.AdamW(rate, weight_decay=1e-4, clipnorm=1.0),
        loss=keras.losses.CosineSimilarity(axis=-1),
        metrics=[angle_error],
    )
    model.fit(
        x, y, sample_weight=w, validation_data=(x_val, y_val), batch_size=batch, epochs=epochs, verbose=0,
        callbacks=[Report(), keras.callbacks.EarlyStopping(patience=4, restore_best_weights=True)],
    )
    print("guessing one direction: 90 deg; final:", {k: round(v, 3) for k, v in model.evaluate(x_val, y_val, verbose=0, return_dict=True).items()})


if __name__ == "__main__":
    main()
