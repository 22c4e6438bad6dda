"""Probabilistic river-level forecast: three quantiles at once, custom Keras train_step (torch backend)."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import torch

keras.utils.set_random_seed(31)

QUANTILES = (0.1, 0.5, 0.9)


def make_river(n, seed):
    """Log-level below zero most of the time; spread grows with rainfall."""
    rng = np.random.default_rng(seed)
    rain = rng.gamma(1.5, 1.0, n)
    melt = rng.normal(0, 1, n)
    soil = rng.uniform(-1, 1, n)
    mean = -4.0 + 0.8 * np.log1p(rain) + 0.6 * np.tanh(melt) * (1 + soil)
    level = mean + (0.1 + 0.25 * np.log1p(rain)) * rng.normal(size=n)
    x = np.stack([np.log1p(rain), melt, soil], 1).astype("float32")
    return x, level[:, None].astype("float32")


class QuantileModel(keras.Model):
    def __init__(self, quantiles, width=48):
        super().__init__()
        self.taus = np.asarray(quantiles, dtype="float32")
        self.body = keras.Sequential(
            [keras.layers.Dense(width, activation="gelu"), keras.layers.Dense(width, activation="gelu")]
        )
        self.base = keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(-3.0))
        self.steps = keras.layers.Dense(len(quantiles) - 1, activation="softplus")
        self.loss_tracker = keras.metrics.Mean(name="pinball")
        self.cover_tracker = keras.metrics.Mean(name="coverage80")

    def call(self, x, training=False):
        h = self.body(x)
        low = self.base(h)
        return torch.cat([low, low + torch.cumsum(self.steps(h), dim=1)], dim=1)

    def pinball(self, y, q):
        taus = torch.as_tensor(self.taus, device=q.device)
        diff = y - q
        return torch.maximum(taus * diff, (taus - 1.0) * diff).sum(dim=1).mean()

    def _track(self, loss, y, q):
        self.loss_tracker.update_state(loss.detach())
        inside = ((y >= q[:, :1]) & (y <= q[:, -1:])).float().mean()
        self.cover_tracker.update_state(inside)
        return {m.name: m.result() for m in self.metrics}

    @property
    def metrics(self):
        return [self.loss_tracker, self.cover_tracker]

    def train_step(self, data):
        x, y = data
        self.zero_grad()
        q = self(x, training=True)
        loss = self.pinball(y, q)
        loss.backward()
        weights = self.trainable_weights
        grads = [w.value.grad for w in weights]
        with torch.no_grad():
            self.optimizer.apply(grads, weights)
        return self._track(loss, y, q)

    def test_step(self, data):
        x, y = data
        with torch.no_grad():
            q = self(x, training=False)
            return self._track(self.pinball(y, q), y, q)


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(
            f"epoch {epoch + 1:2d} pinball {logs['pinball']:.4f} val {logs['val_pinball']:.4f} "
            f"val coverage of the 80% band {logs['val_coverage80']:.3f}"
        )


x_tr, y_tr = make_river(3000, 1)
x_va, y_va = make_river(1000, 2)
const = np.quantile(y_tr, QUANTILES)
d = y_va - const[None]
print("constant quantiles, val pinball", np.maximum(np.array(QUANTILES) * d, (np.array(QUANTILES) - 1) * d).sum(1).mean().round(4))

model = QuantileModel(QUANTILES)
model.compile(optimizer=keras.optimizers.Adam(3e-3))
model.fit(x_tr, y_tr, validation_data=(x_va, y_va), epochs=12, batch_size=64, verbose=0, callbacks=[Report()])
