"""Dose-response regression with Keras; dropout stays on when predicting, to get an uncertainty."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)


def response(dose, weight, age):
    effect = 3.0 * dose ** 2 / (0.3 ** 2 + dose ** 2) * (1.4 - weight) - 2.0 * dose
    return effect - 0.8 * np.sin(3 * age) - 1.0


def sample(n, dose_range):
    dose = rng.uniform(*dose_range, n)
    weight, age = rng.uniform(0, 1, n), rng.uniform(-1, 1, n)
    y = response(dose, weight, age) + rng.normal(0, 0.15, n)
    return np.stack([dose, weight, age], axis=1).astype("float32"), y.astype("float32")


x_train, y_train = sample(1500, (0.0, 1.0))
x_val, y_val = sample(300, (0.0, 1.0))
x_test, y_test = sample(400, (0.0, 1.0))
x_far, y_far = sample(400, (2.0, 3.0))               # doses that never occur in training


def build():
    inputs = keras.Input((3,))
    norm = layers.Normalization()
    norm.adapt(x_train)
    h = norm(inputs)
    for _ in range(2):
        h = layers.Dense(96, activation="gelu")(h)
        h = layers.Dropout(0.08)(h)
    return keras.Model(inputs, layers.Dense(1)(h))


def mc_predict(model, x, passes=40):
    """Mean and spread over passes with dropout on (Gal & Ghahramani 2016)."""
    draws = np.stack([keras.ops.convert_to_numpy(model(x, training=True)) for _ in range(passes)])
    return draws.mean(0)[:, 0], draws.std(0)[:, 0]


class McReport(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 4 == 3:
            mean, spread = mc_predict(self.model, x_val, passes=10)
            print(f"   epoch {epoch + 1}: MC rmse on validation {np.sqrt(np.mean((mean - y_val) ** 2)):.3f}, "
                  f"spread {spread.mean():.3f}")


model = build()
model.compile(
    optimizer=keras.optimizers.AdamW(learning_rate=3e-3, weight_decay=1e-4),
    loss=keras.losses.Huber(delta=0.5),
    metrics=[keras.metrics.RootMeanSquaredError(name="rmse")],
)
model.fit(
    x_train,
    y_train[:, None],
    validation_data=(x_val, y_val[:, None]),
    epochs=12,
    batch_size=50,
    verbose=2,
    callbacks=[
        McReport(),
        keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=3),
    ],
)

for name, x, y in (("test", x_test, y_test), ("far doses", x_far, y_far)):
    mean, spread = mc_predict(model, x)
    rmse = np.sqrt(np.mean((mean - y) ** 2))
    print(f"{name}: rmse {rmse:.3f} (std of target {y.std():.3f}), mean spread {spread.mean():.3f}")
