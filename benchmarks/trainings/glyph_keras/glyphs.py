"""Recognise 60 random stroke glyphs drawn on a 12x12 grid."""
import os

os.environ["KERAS_BACKEND"] = "torch"
import numpy as np
import keras
from keras import layers

SEED = 21
CLASSES = 60
SIDE = 12
keras.utils.set_random_seed(SEED)


def draw(points, rng=None):
    img = np.zeros((SIDE, SIDE), "float32")
    pts = np.array(points, float)
    if rng is not None:
        pts = pts + rng.normal(0, 0.5, pts.shape) + rng.integers(-1, 2, 2)
    for a, b in zip(pts[:-1], pts[1:]):
        for s in np.linspace(0, 1, 12):
            i, j = np.round(a + s * (b - a)).astype(int)
            if 0 <= i < SIDE and 0 <= j < SIDE:
                img[i, j] = 1.0
    return img


def dataset(n_per_class, seed):
    proto = np.random.default_rng(SEED).integers(1, SIDE - 1, (CLASSES, 4, 2))
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for k in range(CLASSES):
        for _ in range(n_per_class):
            img = draw(proto[k], rng)
            xs.append(img + rng.normal(0, 0.15, img.shape))
            ys.append(k)
    return np.asarray(xs, "float32")[..., None], np.asarray(ys)


def make_net():
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(CLASSES, activation="softmax"),
        ]
    )


def main():
    x_train, y_train = dataset(60, 1)
    x_test, y_test = dataset(12, 2)
    net = make_net()
    net.compile(
        optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    net.summary(print_fn=lambda s, **k: None)
    h = net.fit(x_train, y_train, batch_size=64, epochs=8, shuffle=True, verbose=2,
                validation_data=(x_test, y_test))
    loss, acc = net.evaluate(x_test, y_test, verbose=0)
    print(f"test loss {loss:.3f} acc {acc:.3f}; train acc {h.history['accuracy'][-1]:.3f}")


if __name__ == "__main__":
    main()
