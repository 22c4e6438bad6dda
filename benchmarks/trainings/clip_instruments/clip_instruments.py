"""Pairs of a knob setting and the sound it makes, embedded into one space (CLIP style, symmetric loss)."""

import torch
import torch.nn.functional as F
from torch import nn

KNOBS, SAMPLES = 5, 48


def synthesise(n, generator):
    knobs = torch.rand(n, KNOBS, generator=generator)
    t = torch.linspace(0, 1, SAMPLES)
    pitch = 3 + 6 * knobs[:, :1]
    wave = torch.sin(6.283 * pitch * t) + knobs[:, 1:2] * torch.sin(12.566 * pitch * t)
    envelope = torch.exp(-4 * knobs[:, 2:3] * t) * (1 - torch.exp(-30 * (0.1 + knobs[:, 3:4]) * t))
    return knobs * 2 - 1, wave * envelope + 0.05 * knobs[:, 4:] * torch.randn(n, SAMPLES, generator=generator)


class Tower(nn.Module):
    def __init__(self, inputs, width=128, out=24, layers=3):
        super().__init__()
        blocks = [nn.Linear(inputs, width), nn.GELU()]
        for _ in range(layers - 1):
            blocks += [nn.Linear(width, width), nn.GELU()]
        self.blocks = nn.Sequential(*blocks)
        self.project = nn.Linear(width, out)

    def forward(self, x):
        return F.normalize(self.project(self.blocks(x)), dim=-1)


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.knobs = Tower(KNOBS)
        self.sound = Tower(SAMPLES)
        self.log_scale = nn.Parameter(torch.tensor(2.3))
        # The sound tower is expensive: keep it fixed and learn the knob side against it.
        for parameter in self.sound.parameters():
            parameter.requires_grad = False

    def forward(self, knobs, sound):
        return self.log_scale.clamp(max=4.0).exp() * self.knobs(knobs) @ self.sound(sound).T


def contrastive(logits):
    target = torch.arange(len(logits))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2


def main():
    torch.manual_seed(90)
    generator = torch.Generator().manual_seed(90)
    knobs, sound = synthesise(3000, generator)
    test_knobs, test_sound = synthesise(200, generator)
    model = TwoTowers()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3, weight_decay=1e-4)
    for epoch in range(12):
        model.train()
        losses = []
        for rows in torch.randperm(len(knobs), generator=generator).split(100):
            loss = contrastive(model(knobs[rows], sound[rows]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            rank = model(test_knobs, test_sound).argsort(dim=1, descending=True)
            top1 = (rank[:, 0] == torch.arange(200)).float().mean().item()
            top5 = (rank[:, :5] == torch.arange(200)[:, None]).any(1).float().mean().item()
        print(f"epoch {epoch:2d} loss {sum(losses) / len(losses):.3f} top-1 {top1:.3f} top-5 {top5:.3f}")


if __name__ == "__main__":
    main()
