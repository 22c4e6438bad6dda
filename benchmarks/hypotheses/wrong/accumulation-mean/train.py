"""Which of four bells rings, from a short spectrogram."""

import math

import torch
from torch import nn
from torch.nn import functional

RATE, LENGTH, BELLS = 4000, 1024, 4
BATCH_SIZE, ACCUMULATE, EPOCHS = 16, 4, 6
TONES = torch.tensor([[400.0, 910.0], [430.0, 880.0], [400.0, 880.0], [430.0, 910.0]])


def rings(rows, seed):
    generator = torch.Generator().manual_seed(seed)
    bells = torch.randint(0, BELLS, (rows,), generator=generator)
    seconds = torch.arange(LENGTH) / RATE
    tones = TONES[bells] * (1 + 0.01 * torch.randn(rows, 2, generator=generator))
    phases = 2 * math.pi * torch.rand(rows, 2, 1, generator=generator)
    waves = torch.sin(2 * math.pi * tones[..., None] * seconds + phases).sum(1)
    return waves * torch.exp(-4 * seconds) + 0.5 * torch.randn(rows, LENGTH, generator=generator), bells


def spectrogram(waves):
    window = torch.hann_window(256)
    return torch.log1p(torch.stft(waves, 256, 128, window=window, return_complex=True).abs())[:, 10:74]


torch.manual_seed(0)
waves, bells = rings(960, 1)
test_waves, test_bells = rings(480, 2)
sounds, test_sounds = spectrogram(waves), spectrogram(test_waves)
middle, spread = sounds.mean((0, 2), keepdim=True), sounds.std((0, 2), keepdim=True)
sounds, test_sounds = (sounds - middle) / spread, (test_sounds - middle) / spread
model = nn.Sequential(nn.Conv1d(64, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, BELLS))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(EPOCHS):
    batches = torch.randperm(len(sounds)).split(BATCH_SIZE)
    for number, rows in enumerate(batches):
        loss = functional.cross_entropy(model(sounds[rows]), bells[rows])
        (loss / ACCUMULATE).backward()
        if (number + 1) % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
    with torch.no_grad():
        accuracy = (model(test_sounds).argmax(1) == test_bells).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy:.4f}")
