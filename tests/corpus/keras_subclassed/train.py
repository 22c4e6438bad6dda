import argparse

import keras
import numpy as np


class Block(keras.layers.Layer):
    """Dense, normalised, dropped."""

    def __init__(self, units, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(units, use_bias=False)
        self.norm = keras.layers.BatchNormalization()
        self.drop = keras.layers.Dropout(rate)

    def call(self, x, training=False):
        return self.drop(keras.ops.relu(self.norm(self.dense(x), training=training)), training=training)


class Classifier(keras.Model):
    def __init__(self, width, classes=3):
        super().__init__()
        self.first = Block(width)
        self.second = Block(width // 2, rate=0.3)
        self.classify = keras.layers.Dense(classes)

    def call(self, inputs, training=False):
        h = self.first(inputs, training=training)
        h = self.second(h, training=training)
        return self.classify(h)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=24)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--lr", type=float, default=0.01)
    flags = parser.parse_args()

    keras.utils.set_random_seed(16)
    x = np.random.randn(300, 9).astype("float32")
    y = x[:, :3].argmax(axis=1)

    model = Classifier(flags.width)
    model.compile(
        optimizer=keras.optimizers.AdamW(flags.lr, weight_decay=0.004),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(x[:250], y[:250], batch_size=25, epochs=flags.epochs, validation_data=(x[250:], y[250:]), verbose=2)


if __name__ == "__main__":
    main()
