"""Keras (torch backend): rare-defect detection with class weights, focal loss, early stopping and an averaged optimizer."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from keras import layers
from sklearn.metrics import average_precision_score, roc_auc_score

keras.utils.set_random_seed(73)
rng = np.random.default_rng(73)


def beans(n):
    """Six shape measurements of a bean; about one in seven carries a defect that shows in two interactions."""
    base = rng.normal(size=(n, 6))
    base[:, 3] += 0.6 * base[:, 0]
    score = 1.6 * base[:, 0] * base[:, 1] + 1.2 * np.abs(base[:, 4]) - 0.8 * base[:, 5] + 0.4 * rng.normal(size=n)
    y = (score > 3.0).astype("float32")
    scale = np.array([20.0, 3.0, 0.1, 400.0, 7.0, 1.0])
    shift = np.array([100.0, 9.0, 0.7, 2500.0, 30.0, -4.0])
    return (base * scale + shift).astype("float32"), y[:, None]


x_train, y_train = beans(4000)
x_val, y_val = beans(1000)
x_test, y_test = beans(2000)

normaliser = layers.Normalization()
normaliser.adapt(x_train)

inputs = keras.Input((6,))
h = normaliser(inputs)
h = layers.Dense(48, activation="silu")(h)
skip = h
h = layers.Dense(48, activation="silu")(h)
h = layers.Add()([h, skip])
h = layers.Dropout(0.1)(h)
prior = float(y_train.mean())
outputs = layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(np.log(prior / (1 - prior))))(h)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.AdamW(
        5e-3, weight_decay=1e-3, use_ema=True, ema_momentum=0.95, clipnorm=1.0),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=1.5),
    metrics=[keras.metrics.AUC(name="auc")],
)
callbacks = [
    keras.callbacks.EarlyStopping(monitor="val_auc", mode="max", patience=4, restore_best_weights=True),
    keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.4, patience=2, min_lr=1e-4),
]
model.fit(
    x_train, y_train,
    validation_data=(x_val, y_val),
    epochs=10, batch_size=80, shuffle=True,
    class_weight={0: 1.0, 1: 4.0},
    callbacks=callbacks, verbose=2,
)

p = model.predict(x_test, batch_size=500, verbose=0).ravel()
truth = y_test.ravel()
print(f"defect share {truth.mean():.3f}")
print(f"test ROC-AUC {roc_auc_score(truth, p):.4f}   average precision {average_precision_score(truth, p):.4f} (chance {truth.mean():.3f})")
