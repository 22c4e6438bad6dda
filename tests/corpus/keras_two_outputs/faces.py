"""One picture, two questions: where does he look (two angles), does he smile (yes or no)."""
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(60)

x = np.random.rand(160, 12, 12, 1).astype("float32")
angles = np.stack([x[:, :6].mean((1, 2, 3)), x[:, 6:].mean((1, 2, 3))], axis=1)
smile = (x[:, 3, 3, 0] > 0.5).astype("float32")
x[smile == 1, 6:] *= 0.5

image = keras.Input((12, 12, 1), name="image")
h = layers.SeparableConv2D(filters=6, kernel_size=5, strides=2, activation="relu", name="wide")(image)
h = layers.BatchNormalization(name="bn")(h)
h = layers.GlobalAveragePooling2D(name="pool")(h)
gaze = layers.Dense(2, name="gaze")(h)
smiling = layers.Dense(1, activation="sigmoid", name="smile")(h)

model = keras.Model(image, {"gaze": gaze, "smile": smiling})
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss={"gaze": "mse", "smile": "binary_crossentropy"},
    loss_weights={"gaze": 1.0, "smile": 0.2},
    metrics={"smile": ["accuracy"]},
)
model.fit(x, {"gaze": angles, "smile": smile}, epochs=6, batch_size=16, verbose=2)
