"""The error on points that were not trained on."""

from data import held_out
from model import predict


def evaluate(model):
    batch = held_out()
    errors = predict(model, batch["x"]) - batch["y"]
    return {"test_mse": (errors**2).mean().item()}
