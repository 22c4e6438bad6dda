"""One network, two outputs: the kind of a mineral grain (softmax) and its density (linear). Losses weighted apart."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers
from sklearn.datasets import make_classification

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
KINDS = 5

x, kind = make_classification(
    2500, n_features=16, n_informative=10, n_classes=KINDS, n_clusters_per_class=1, class_sep=1.5, random_state=6
)
x = x.astype("float32")
density = (2.6 + 0.3 * kind + 0.1 * np.tanh(x[:, 0]) + rng.normal(0, 0.03, len(kind))).astype("float32")
train, test = slice(0, 2000), slice(2000, None)

normalise = layers.Normalization()
normalise.adapt(x[train])
inputs = keras.Input((16,))
h = normalise(inputs)
h = layers.Dense(96, activation="swish", kernel_regularizer=keras.regularizers.L2(1e-4))(h)
h = layers.Dropout(0.5)(h)
h = layers.Dense(48, activation="swish")(h)
kind_out = layers.Dense(KINDS, activation="softmax", name="kind")(h)
density_out = layers.Dense(1, name="density", bias_initializer=keras.initializers.Constant(3.2))(h)
model = keras.Model(inputs, {"kind": kind_out, "density": density_out})

steps = 2000 // 50 * 15
schedule = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=1e-4, decay_steps=steps - 80, warmup_target=4e-3, warmup_steps=80
)
model.compile(
    optimizer=keras.optimizers.Adam(schedule, global_clipnorm=1.0),
    loss={"kind": "sparse_categorical_crossentropy", "density": "mse"},
    loss_weights={"kind": 1.0, "density": 10.0},
    metrics={"kind": ["accuracy"], "density": ["mae"]},
)
model.fit(
    x[train],
    {"kind": kind[train], "density": density[train]},
    validation_data=(x[test], {"kind": kind[test], "density": density[test]}),
    epochs=15,
    batch_size=50,
    verbose=2,
)
# The training accuracy lies below the validation accuracy: dropout is at work in the one and not in the other.
most = np.bincount(kind[train]).argmax()
print(f"majority kind {np.mean(kind[test] == most):.3f}")
print("learning rate at the end", float(np.asarray(model.optimizer.learning_rate.cpu())))

out = model.predict(x[test], verbose=0)
accuracy = float((out["kind"].argmax(1) == kind[test]).mean())
error = float(np.abs(out["density"].squeeze() - density[test]).mean())
print(f"accuracy {accuracy:.3f}, density off by {error:.3f}, spread {density[test].std():.3f}")
