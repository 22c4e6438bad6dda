"""The share of held-out points that are told right."""

from data import held_out
from model import predict


def evaluate(model):
    batch = held_out()
    told = predict(model, batch["x"])
    right = sum(one == int(label) for one, label in zip(told, batch["y"]))
    return {"test_accuracy": right / len(told)}
