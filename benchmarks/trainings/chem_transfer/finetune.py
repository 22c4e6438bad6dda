"""Pretrain on band strengths, then train a linear probe for solubility on 300 labelled traces."""
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn

from backbone import MultiPropertyNet, SpectraBackbone
from spectra import BANDS, solubility_class, traces

torch.manual_seed(12)


def pretrain(path, epochs=16):
    x, strength = traces(6000, seed=1)
    model = MultiPropertyNet(BANDS)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(x)).split(100):
            loss = F.mse_loss(model(x[idx]), strength[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 4 == 3:
            print(f"pretrain epoch {epoch + 1}: mse {total / len(x):.4f}")
    torch.save({"model": model.state_dict(), "epoch": epochs}, path)


class SolubilityProbe(nn.Module):
    def __init__(self, checkpoint, classes=4):
        super().__init__()
        self.backbone = SpectraBackbone()
        state = torch.load(checkpoint)["model"]
        self.backbone.load_state_dict(state, strict=False)
        for p in self.backbone.parameters():
            p.requires_grad = False
        self.head = nn.Linear(24, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def finetune(checkpoint, epochs=60):
    x, strength = traces(300, seed=2)
    y = solubility_class(strength)
    x_val, s_val = traces(1500, seed=3)
    y_val = solubility_class(s_val)

    model = SolubilityProbe(checkpoint)
    opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2, weight_decay=1e-3)
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(20):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 10 == 9:
            model.eval()
            with torch.no_grad():
                out = model(x_val)
                val_loss = F.cross_entropy(out, y_val).item()
                acc = (out.argmax(1) == y_val).float().mean().item()
            print(f"finetune epoch {epoch + 1}: loss {loss.item():.3f} val_loss {val_loss:.3f} val_acc {acc:.3f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "source.pt")
        pretrain(file)
        finetune(file)
