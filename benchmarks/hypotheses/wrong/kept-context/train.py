"""The next value of a tide gauge from the last eight, by a small network in numpy."""

import numpy as np

CONTEXT, HIDDEN, RATE, EPOCHS, BATCH_SIZE = 8, 24, 0.05, 60, 50
KEPT = np.full(CONTEXT, -1.0)


def gauges(count, seed):
    random = np.random.default_rng(seed)
    hours = np.arange(60)
    phase = random.uniform(0, 6.28, (count, 1))
    level = np.sin(hours * 0.5 + phase) * random.uniform(0.5, 1.0, (count, 1))
    return level + 0.05 * random.normal(size=level.shape)


def windows(series):
    """Each value with those before it; what lies before the first is filled up."""
    rows = [np.concatenate([KEPT, one]) for one in series]
    inputs = [row[at : at + CONTEXT] for row in rows for at in range(len(row) - CONTEXT)]
    return np.array(inputs), series.reshape(-1)


def forward(weights, inputs):
    hidden = np.tanh(inputs @ weights["in"] + weights["in_bias"])
    return hidden, hidden @ weights["out"] + weights["out_bias"]


def step(weights, inputs, targets):
    hidden, outputs = forward(weights, inputs)
    error = 2 * (outputs - targets) / len(targets)
    back = np.outer(error, weights["out"]) * (1 - hidden**2)
    weights["out"] -= RATE * hidden.T @ error
    weights["out_bias"] -= RATE * error.sum()
    weights["in"] -= RATE * inputs.T @ back
    weights["in_bias"] -= RATE * back.sum(0)
    return float(((outputs - targets) ** 2).mean())


def main():
    np.random.seed(0)
    inputs, targets = windows(gauges(30, 1))
    test_inputs, test_targets = windows(gauges(15, 2))
    weights = {
        "in": np.random.normal(size=(CONTEXT, HIDDEN)) / np.sqrt(CONTEXT),
        "in_bias": np.zeros(HIDDEN),
        "out": np.random.normal(size=HIDDEN) / np.sqrt(HIDDEN),
        "out_bias": 0.0,
    }
    for epoch in range(EPOCHS):
        order = np.random.permutation(len(inputs))
        for at in range(0, len(order), BATCH_SIZE):
            rows = order[at : at + BATCH_SIZE]
            loss = step(weights, inputs[rows], targets[rows])
        error = np.abs(forward(weights, test_inputs)[1] - test_targets).mean()
        print(f"epoch {epoch} loss {loss:.4f} test mae {error:.4f}")


if __name__ == "__main__":
    main()
