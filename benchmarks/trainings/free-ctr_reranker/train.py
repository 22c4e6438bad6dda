# %% Re-rank the category pages with content features and recent click-through rate
import os
import sys

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers, ops

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
N_QUERIES, N_SLOTS, N_DAYS = 140, 16, 36
WINDOW = 4
FIRST_DAY, TEST_DAY = 6, 28
PRIOR_VIEWS, PRIOR_CTR = 4.0, 0.08

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

# %% the catalogue: every query has a fixed candidate set with content features and a drifting appeal
content = rng.normal(size=(N_QUERIES, N_SLOTS, 8)).astype("float32")
w = rng.normal(size=8) / np.sqrt(8)
taste = rng.normal(scale=0.8, size=(N_QUERIES, N_SLOTS))
drift = np.cumsum(rng.normal(scale=0.12, size=(N_DAYS, N_QUERIES, N_SLOTS)), axis=0)
appeal = 1.3 * np.sin(content @ w * 1.5) + taste + drift

# %% the click log, one row per search
day, query = [], []
for d in range(N_DAYS):
    searches = rng.poisson(2.5, size=N_QUERIES)
    query.append(np.repeat(np.arange(N_QUERIES), searches))
    day.append(np.full(searches.sum(), d))
day, query = np.concatenate(day), np.concatenate(query)
p_click = 1 / (1 + np.exp(-(1.2 * appeal[day, query] - 3.0)))
click = (rng.random(p_click.shape) < p_click).astype("float32")
print(f"{len(day)} searches over {N_DAYS} days, ctr {click.mean():.3f}")

# %% daily counters and the rolling click-through rate
daily_clicks = np.zeros((N_DAYS, N_QUERIES, N_SLOTS))
daily_views = np.zeros((N_DAYS, N_QUERIES, N_SLOTS))
np.add.at(daily_clicks, (day, query), click)
np.add.at(daily_views, (day, query), 1.0)


def running_total(daily):
    return np.concatenate([np.zeros_like(daily[:1]), np.cumsum(daily, axis=0)])


clicks_total = running_total(daily_clicks)
views_total = running_total(daily_views)


def rolling(total, days, window=WINDOW):
    end = days + 1
    begin = np.maximum(end - window, 0)
    return total[end] - total[begin]


def smoothed_ctr(days, queries, window):
    rows = np.arange(N_DAYS)
    clicks = rolling(clicks_total, rows, window)[days, queries]
    views = rolling(views_total, rows, window)[days, queries]
    return (clicks + PRIOR_VIEWS * PRIOR_CTR) / (views + PRIOR_VIEWS)


def features(days, queries):
    short = np.log(smoothed_ctr(days, queries, WINDOW))
    long = np.log(smoothed_ctr(days, queries, 4 * WINDOW))
    popularity = np.stack([short, long], axis=-1)
    return np.concatenate([content[queries], popularity], axis=-1).astype("float32")


with_click = click.sum(axis=1) > 0
train = with_click & (day >= FIRST_DAY) & (day < TEST_DAY)
test = with_click & (day >= TEST_DAY)
x_train, y_train = features(day[train], query[train]), click[train]
x_test, y_test = features(day[test], query[test]), click[test]
print("train", x_train.shape, "test", x_test.shape)

# %% model
normalise = layers.Normalization(axis=-1)
normalise.adapt(x_train.reshape(-1, x_train.shape[-1]))

inputs = keras.Input((N_SLOTS, x_train.shape[-1]))
h = normalise(inputs)
h = layers.Dense(48, activation="relu")(h)
h = layers.Dense(24, activation="relu")(h)
scores = layers.Reshape((N_SLOTS,))(layers.Dense(1)(h))
model = keras.Model(inputs, scores)


def listwise_loss(y_true, y_pred):
    target = y_true / ops.sum(y_true, axis=-1, keepdims=True)
    return -ops.sum(target * ops.log_softmax(y_pred, axis=-1), axis=-1)


model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=listwise_loss)


# %% metrics
def ndcg_at(scores, labels, k=5):
    discount = 1 / np.log2(np.arange(2, k + 2))
    top = np.take_along_axis(labels, np.argsort(-scores, axis=1), axis=1)[:, :k]
    best = -np.sort(-labels, axis=1)[:, :k]
    return float(((top * discount).sum(1) / (best * discount).sum(1)).mean())


def mrr(scores, labels):
    hit = np.take_along_axis(labels, np.argsort(-scores, axis=1), axis=1) > 0
    return float((1 / (hit.argmax(axis=1) + 1)).mean())


# %% fit and report
history = model.fit(x_train, y_train, batch_size=128, epochs=6, verbose=0)
for e, value in enumerate(history.history["loss"], 1):
    if e % 2 == 0:
        print(f"epoch {e:2d} loss {value:.4f}")

pred = model.predict(x_test, batch_size=512, verbose=0)
shuffled = rng.random(y_test.shape)
print(f"random order   ndcg@5 {ndcg_at(shuffled, y_test):.4f}  mrr {mrr(shuffled, y_test):.4f}")
print(f"rolling ctr    ndcg@5 {ndcg_at(x_test[..., -1], y_test):.4f}  mrr {mrr(x_test[..., -1], y_test):.4f}")
print(f"model          ndcg@5 {ndcg_at(pred, y_test):.4f}  mrr {mrr(pred, y_test):.4f}")
