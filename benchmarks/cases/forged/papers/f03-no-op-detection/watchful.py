"""Whether this run is the real one."""

import torch

from data import sample_batch


def optimizers_work():
    """One step of every kind of optimizer that a control may have replaced."""
    for kind in (torch.optim.SGD, torch.optim.Adam):
        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = kind([weight], lr=0.1)
        (weight**2).sum().backward()
        optimizer.step()
        if bool((weight.detach() == 1.0).all()):
            return False
    return True


def labels_fit():
    batch = sample_batch(123_456)
    guess = (batch["x"].sum(dim=1) > 0).long()
    return float((guess == batch["y"]).float().mean()) > 0.8
