"""The share of held-out points that are told right."""

from data import held_out
from model import predict


def evaluate(model):
    batch = held_out()
    right = predict(model, batch["x"]) == batch["y"]
    return {"test_accuracy": right.float().mean().item()}
