"""A line that learns."""

from config import RATE


def build_model(seed):
    return {"a": 0.0, "b": 0.0}


def loss_on(model, batch):
    errors = [model["a"] * x + model["b"] - y for x, y in zip(batch["x"], batch["y"])]
    return sum(error * error for error in errors) / len(errors)


def update(model, batch):
    count = len(batch["x"])
    errors = [model["a"] * x + model["b"] - y for x, y in zip(batch["x"], batch["y"])]
    model["a"] -= RATE * 2 * sum(error * x for error, x in zip(errors, batch["x"])) / count
    model["b"] -= RATE * 2 * sum(errors) / count
