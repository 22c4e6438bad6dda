"""The error on points that were not trained on."""

from data import sample_batch
from model import loss_on


def evaluate(model):
    return {"mse": loss_on(model, sample_batch(99))}
