"""Classifier with an auxiliary reconstruction loss in a custom Keras step."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class JointModel(keras.Model):
    def __init__(self, aux_weight=0.3, **kwargs):
        super().__init__(**kwargs)
        self.encoder = keras.Sequential([layers.Dense(96, activation="relu"), layers.Dense(32, activation="relu")])
        self.decoder = keras.Sequential([layers.Dense(96, activation="relu"), layers.Dense(64)])
        self.classifier = layers.Dense(10)
        self.encoder.build((None, 64))
        self.decoder.build((None, 32))
        self.classifier.build((None, 32))
        self.aux_weight = aux_weight
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.mse = keras.losses.MeanSquaredError()
        self.total = keras.metrics.Mean(name="loss")
        self.recon = keras.metrics.Mean(name="recon")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="acc")

    def call(self, x, training=False):
        return self.classifier(self.encoder(x))

    @property
    def metrics(self):
        return [self.total, self.recon, self.acc]

    def train_step(self, data):
        x, y = data
        self.zero_grad()
        z = self.encoder(x)
        noisy = z + 0.1 * torch.randn_like(z)
        logits, recon = self.classifier(z), self.decoder(noisy)
        recon_loss = self.mse(x, recon)
        loss = self.ce(y, logits) + self.aux_weight * recon_loss
        loss.backward()

        weights = self.trainable_weights
        grads = [w.value.grad for w in weights]
        norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
        scale = torch.clamp(5.0 / (norm + 1e-6), max=1.0)
        with torch.no_grad():
            self.optimizer.apply([g * scale for g in grads], weights)

        self.total.update_state(loss)
        self.recon.update_state(recon_loss)
        self.acc.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        logits = self(x, training=False)
        self.total.update_state(self.ce(y, logits))
        self.acc.update_state(y, logits)
        return {"loss": self.total.result(), "acc": self.acc.result()}


def main():
    keras.utils.set_random_seed(4)
    digits = load_digits()
    x = (digits.data / 16.0).astype("float32")
    x_train, x_test, y_train, y_test = train_test_split(x, digits.target, test_size=0.25, random_state=4)
    model = JointModel()
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    for epoch in range(10):
        logs = model.fit(x_train, y_train, batch_size=64, epochs=1, verbose=0).history
        line = " ".join(f"{k} {v[0]:.4f}" for k, v in logs.items())
        print(f"epoch {epoch}: {line}")
    guess = ops.convert_to_numpy(ops.argmax(model(x_test), axis=1))
    print(f"test accuracy {np.mean(guess == y_test):.4f}")


if __name__ == "__main__":
    main()
