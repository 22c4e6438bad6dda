"""Two stages: learn walking styles, then fit a linear probe for patients on the frozen encoder.

Run with: python -m frozen_probe.train
"""
import copy

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from .data import STYLES, patients, styles
from .model import GaitEncoder, WithHead


def run(model, train_set, test_set, epochs, lr, tag, batch_size=64):
    params = [p for p in model.parameters() if p.requires_grad]
    print(f"[{tag}] {sum(p.numel() for p in params)} trainable of {sum(p.numel() for p in model.parameters())}")
    opt = torch.optim.Adam(params, lr=lr)
    loader = DataLoader(TensorDataset(*train_set), batch_size=batch_size, shuffle=True)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(test_set[0]).argmax(1) == test_set[1]).float().mean().item()
        print(f"[{tag}] epoch {epoch + 1} loss {total / len(loader):.4f} test acc {acc:.3f}")
    return acc


def main():
    torch.manual_seed(14)
    encoder = GaitEncoder()
    run(WithHead(encoder, 32, STYLES), styles(2400, 1), styles(500, 2), epochs=6, lr=3e-3, tag="styles")

    small, test = patients(80, 3), patients(600, 4)
    before = {k: v.clone() for k, v in encoder.state_dict().items()}
    probe = WithHead(copy.deepcopy(encoder), 32, 2, frozen=True)
    acc = run(probe, small, test, epochs=20, lr=3e-2, tag="patients", batch_size=16)
    after = probe.encoder.state_dict()
    assert all(torch.equal(before[k], after[k]) for k in before), "the encoder must not move"
    base = test[1].bincount().max().item() / len(test[1])
    print(f"probe accuracy {acc:.3f}, majority class {base:.3f}")


if __name__ == "__main__":
    main()
