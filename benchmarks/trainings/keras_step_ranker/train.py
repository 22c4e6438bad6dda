"""Learning to rank with a hand-written train_step in Keras 3 (torch backend): lists of candidates of different length,
ListNet loss with masks, gradient norm reported, NDCG as the metric."""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import torch
from keras import layers

keras.utils.set_random_seed(37)
rng = np.random.default_rng(37)
LIST, FEATS = 10, 12
W = rng.normal(0, 1, FEATS)
V = rng.normal(0, 1, (FEATS, 4))


def make_lists(n):
    x = rng.normal(0, 1, (n, LIST, FEATS)).astype("float32")
    size = rng.integers(4, LIST + 1, n)
    mask = (np.arange(LIST)[None] < size[:, None]).astype("float32")
    score = x @ W * 0.5 + np.maximum(x @ V, 0).sum(-1) * 0.5 + rng.normal(0, 0.4, (n, LIST))
    score = np.where(mask > 0, score, -np.inf)
    rank = np.argsort(np.argsort(-score, axis=1), axis=1)
    rel = np.clip(4 - rank, 0, 4).astype("float32") * mask
    return x * mask[..., None], mask, rel


def ndcg(scores, rel, mask, k=5):
    scores = np.where(mask > 0, scores, -1e9)
    gain = 2 ** np.take_along_axis(rel, np.argsort(-scores, 1), 1) - 1
    ideal = 2 ** -np.sort(-rel, 1) - 1
    disc = 1 / np.log2(np.arange(2, LIST + 2))
    return float(np.mean((gain * disc)[:, :k].sum(1) / (ideal * disc)[:, :k].sum(1)))


@keras.saving.register_keras_serializable()
class Ranker(keras.Model):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.blocks = [layers.Dense(64, activation="silu"), layers.LayerNormalization(), layers.Dense(64, activation="silu")]
        self.out = layers.Dense(1)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.norm_tracker = keras.metrics.Mean(name="grad_norm")

    @property
    def metrics(self):
        return [self.loss_tracker, self.norm_tracker]

    def call(self, x, training=False):
        for b in self.blocks:
            x = b(x)
        return self.out(x)[..., 0]

    def listnet(self, scores, rel, mask):
        dead = (1 - mask) * -1e9
        want = torch.softmax(rel + dead, dim=-1)
        got = torch.log_softmax(scores + dead, dim=-1)
        return -(want * got * mask).sum(-1).mean()

    def train_step(self, data):
        x, (rel, mask) = data
        self.zero_grad()
        loss = self.listnet(self(x, training=True), rel, mask)
        loss.backward()
        weights = list(self.trainable_weights)
        grads = [w.value.grad for w in weights]
        with torch.no_grad():
            norm = torch.sqrt(sum((g ** 2).sum() for g in grads))
            self.optimizer.apply(grads, weights)
        self.loss_tracker.update_state(loss.detach())
        self.norm_tracker.update_state(norm)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, (rel, mask) = data
        self.loss_tracker.update_state(self.listnet(self(x, training=False), rel, mask))
        return {"loss": self.loss_tracker.result()}


class NDCG(keras.callbacks.Callback):
    def __init__(self, x, mask, rel):
        super().__init__()
        self.x, self.mask, self.rel = x, mask, rel

    def on_epoch_end(self, epoch, logs=None):
        s = self.model.predict(self.x, batch_size=200, verbose=0)
        logs["val_ndcg5"] = ndcg(s, self.rel, self.mask)
        print(f"epoch {epoch + 1:2d} " + " ".join(f"{k} {float(v):.4f}" for k, v in logs.items()))


x_tr, m_tr, r_tr = make_lists(2400)
x_va, m_va, r_va = make_lists(400)
model = Ranker()
steps = 2400 // 32
model.compile(optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 9 * steps, alpha=0.02)))
print("random order ndcg@5:", round(ndcg(rng.normal(size=r_va.shape), r_va, m_va), 4))
model.fit(
    x_tr, (r_tr, m_tr), validation_data=(x_va, (r_va, m_va)), epochs=9, batch_size=32, verbose=0, callbacks=[NDCG(x_va, m_va, r_va)]
)
