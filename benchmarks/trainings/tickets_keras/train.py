"""Route support tickets (bag of words) to one of six desks. Keras fit on logits."""
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(5)
DESKS, VOCAB = 6, 300
FREQ = np.array([0.62, 0.2, 0.08, 0.05, 0.03, 0.02])


def tickets(n, seed, freq=FREQ):
    topic = np.random.default_rng(99).dirichlet(np.full(VOCAB, 0.08), DESKS)
    r = np.random.default_rng(seed)
    y = r.choice(DESKS, n, p=freq)
    base = np.full(VOCAB, 1 / VOCAB)
    x = np.stack([r.multinomial(r.integers(6, 14), 0.55 * base + 0.45 * topic[k]) for k in y])
    return np.log1p(x).astype("float32"), keras.utils.to_categorical(y, DESKS)


x, y = tickets(2500, 1)
xv, yv = tickets(600, 2, np.full(DESKS, 1 / DESKS))

model = keras.Sequential([
    keras.Input((VOCAB,)),
    layers.Dense(64, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-4)),
    layers.Dropout(0.3),
    layers.Dense(DESKS),                     # raw scores, see from_logits below
])
model.compile(
    optimizer=keras.optimizers.SGD(
        keras.optimizers.schedules.CosineDecay(0.3, decay_steps=50 * 12), momentum=0.9, clipnorm=1.0),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
    metrics=["accuracy"],
)
counts = y.sum(0)
weights = {k: float((len(y) / (DESKS * counts[k])) ** 0.7) for k in range(DESKS)}
print("tickets per desk", counts.astype(int).tolist())
model.fit(x, y, batch_size=50, epochs=12, class_weight=weights, verbose=2)


def confusion(truth, guess, k):
    """Rows are true desks, columns the desks chosen."""
    table = np.zeros((k, k), int)
    for t, g in zip(truth, guess):
        table[t, g] += 1
    return table


loss, acc = model.evaluate(xv, yv, verbose=0)
pred = model.predict(xv, verbose=0).argmax(-1)
table = confusion(yv.argmax(-1), pred, DESKS)
for name, row in zip("ABCDEF", table):
    print("desk", name, " ".join(f"{v:4d}" for v in row))
recall = np.diag(table) / table.sum(1)
print(f"balanced test accuracy {acc:.3f}; recall per desk {recall.round(2).tolist()}")
