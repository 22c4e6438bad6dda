"""Keras 3 on torch with a train_step of its own: classification of spot patterns with a mixup-free baseline."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import torch
from keras import layers


def spots(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, n)
    x = rng.normal(0, 0.3, (n, 12, 12, 1))
    for i, k in enumerate(y):
        for _ in range(k + 1):
            r, c = rng.integers(1, 11, 2)
            x[i, r - 1 : r + 2, c - 1 : c + 2, 0] += 1.2
    return x.astype("float32"), y.astype("int64")


class SpotCounter(keras.Model):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.acc_tracker = keras.metrics.SparseCategoricalAccuracy(name="accuracy")

    def call(self, x, training=False):
        return self.backbone(x, training=training)

    @property
    def metrics(self):
        return [self.loss_tracker, self.acc_tracker]

    def train_step(self, data):
        x, y = data
        logits = self(x, training=True)
        loss = self.compute_loss(y=y, y_pred=logits)
        loss.backward()
        trainable = list(self.trainable_weights)
        gradients = [v.value.grad for v in trainable]
        with torch.no_grad():
            self.optimizer.apply(gradients, trainable)
        self.loss_tracker.update_state(loss)
        self.acc_tracker.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        logits = self(x, training=False)
        self.loss_tracker.update_state(self.compute_loss(y=y, y_pred=logits))
        self.acc_tracker.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


def make_backbone():
    return keras.Sequential(
        [
            keras.Input((12, 12, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(32, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(5),
        ]
    )


def main():
    keras.utils.set_random_seed(10)
    x_train, y_train = spots(1800, 0)
    x_test, y_test = spots(500, 1)
    model = SpotCounter(make_backbone())
    model.compile(
        optimizer=keras.optimizers.SGD(learning_rate=0.05, momentum=0.9),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(x_train, y_train, batch_size=64, epochs=5, validation_data=(x_test, y_test), verbose=2)
    print(model.evaluate(x_test, y_test, verbose=0, return_dict=True))


if __name__ == "__main__":
    main()
