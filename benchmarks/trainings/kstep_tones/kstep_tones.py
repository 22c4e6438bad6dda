"""Custom train and test steps in Keras for a tone classifier with dropout and batch normalisation."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers, ops

RATE = 64


def tones(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 6, n)
    t = np.arange(RATE) / RATE
    frequency = 3 + 2 * y[:, None] + rng.normal(0, 0.25, (n, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    wave = np.sin(2 * np.pi * frequency * t + phase) + rng.normal(0, 1.8, (n, RATE))
    return np.abs(np.fft.rfft(wave))[:, 1:].astype("float32") / 16, y.astype("int64")


class ToneModel(keras.Model):
    def __init__(self, n_classes):
        super().__init__()
        self.net = keras.Sequential(
            [
                layers.Dense(96, use_bias=False),
                layers.BatchNormalization(),
                layers.Activation("relu"),
                layers.Dropout(0.6),
                layers.Dense(96, activation="relu"),
                layers.Dropout(0.6),
                layers.Dense(n_classes),
            ]
        )
        self.loss_metric = keras.metrics.Mean(name="loss")
        self.hit_metric = keras.metrics.Mean(name="acc")

    @property
    def metrics(self):
        return [self.loss_metric, self.hit_metric]

    def call(self, x, training=None):
        return self.net(x, training=training)

    def record(self, y, logits):
        loss = ops.mean(keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True))
        self.loss_metric.update_state(loss)
        self.hit_metric.update_state(ops.cast(ops.argmax(logits, axis=-1) == y, "float32"))
        return loss

    def train_step(self, data):
        x, y = data
        self.zero_grad()
        loss = self.record(y, self(x, training=True))
        loss.backward()
        weights = self.trainable_weights
        self.optimizer.apply([w.value.grad for w in weights], weights)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        self.record(y, self(x, training=True))
        return {m.name: m.result() for m in self.metrics}


def main():
    keras.utils.set_random_seed(77)
    x, y = tones(1500, 0)
    x_val, y_val = tones(400, 1)
    model = ToneModel(6)
    model.build((None, x.shape[1]))
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    history = model.fit(x, y, epochs=12, batch_size=64, validation_data=(x_val, y_val), verbose=0)
    for epoch in range(0, 12, 3):
        print({k: round(float(v[epoch]), 3) for k, v in history.history.items()})
    print("validation:", model.evaluate(x_val, y_val, batch_size=16, verbose=0, return_dict=True))
    guess = np.argmax(model.predict(x_val, verbose=0), axis=1)
    print("predicted labels agree with the truth in", (guess == y_val).mean())


if __name__ == "__main__":
    main()
