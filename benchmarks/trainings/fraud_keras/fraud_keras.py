"""Card fraud, 2 % positives. Keras fit with class weights; judged by average precision and recall, not accuracy.

Because positives weigh 25 times as much, the weighted loss is high and the raw probabilities are too large on purpose
(they get corrected after training); the plain accuracy goes *down* against "never fraud", which is fine.
"""
import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
from sklearn.metrics import average_precision_score, recall_score


def transactions(n, seed):
    r = np.random.default_rng(seed)
    amount = r.lognormal(3, 1, n)
    night = r.random(n) < 0.2
    abroad = r.random(n) < 0.1
    speed = r.exponential(1, n)
    known = r.random(n) < 0.8
    z = -3.5 + 0.5 * np.log(amount) * abroad + 1.6 * night * abroad + 0.9 * speed * (~known) - 0.5 * known
    y = (r.random(n) < 1 / (1 + np.exp(-1.6 * z))).astype("float32")
    x = np.stack([np.log(amount) - 3, night, abroad, speed - 1, known, r.normal(size=n)], 1).astype("float32")
    return x, y


keras.utils.set_random_seed(0)
x, y = transactions(12000, 1)
xv, yv = transactions(3000, 2)
xt, yt = transactions(8000, 3)
rate = y.mean()
weights = {0: 1.0, 1: float((1 - rate) / rate / 2)}
print(f"positives {rate:.4f}, weight of a positive {weights[1]:.1f}")

model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Dense(32, activation="swish"),
    keras.layers.Dense(32, activation="swish"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.BinaryCrossentropy(),
    weighted_metrics=[],
    metrics=[keras.metrics.AUC(curve="PR", name="pr")],
)
stop = keras.callbacks.EarlyStopping(monitor="val_pr", mode="max", patience=4, restore_best_weights=True)
h = model.fit(x, y, batch_size=256, epochs=10, class_weight=weights, validation_data=(xv, yv), callbacks=[stop], verbose=0)
for e, (a, b, c) in enumerate(zip(h.history["loss"], h.history["val_loss"], h.history["val_pr"])):
    if e % 3 == 0:
        print(f"epoch {e} weighted loss {a:.3f} val loss {b:.3f} val PR area {c:.3f}")


def corrected(p, w):
    """undo the effect of the class weight on the odds"""
    odds = p / (1 - p) / w
    return odds / (1 + odds)


p = model.predict(xt, batch_size=1024, verbose=0).ravel()
q = corrected(np.clip(p, 1e-6, 1 - 1e-6), weights[1])
print(f"test average precision {average_precision_score(yt, p):.3f} (random {yt.mean():.3f})")
print(f"recall at the 5% most suspicious {yt[np.argsort(-p)[:len(p) // 20]].sum() / yt.sum():.3f} (random 0.05), recall at 0.5 {recall_score(yt, p > 0.5):.3f}")
print(f"accuracy at 0.5 {((p > 0.5) == yt).mean():.3f}, never fraud {1 - yt.mean():.3f}; mean corrected probability {q.mean():.4f}")
