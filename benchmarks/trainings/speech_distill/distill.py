"""Knowledge distillation for a keyword spotter: a wide teacher is trained on labels, then frozen; a student
of a twentieth of its size learns from its softened outputs on unlabelled recordings plus a few labelled ones."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 71
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)
FRAMES, MELS, WORDS = 20, 12, 8

prototypes = rng.normal(0, 1, (WORDS, 6, MELS))


def recording(word):
    """Six phones stretched to a random speed, in noise."""
    start, length = rng.integers(0, 5), rng.integers(12, 16)
    t = np.linspace(0, 5, length)
    low = np.floor(t).astype(int).clip(0, 4)
    frac = (t - low)[:, None]
    track = (1 - frac) * prototypes[word][low] + frac * prototypes[word][low + 1]
    out = np.zeros((FRAMES, MELS))
    out[start:start + length] = track[: FRAMES - start]
    return out + rng.normal(0, 1.3, out.shape)


def collect(n):
    words = rng.integers(0, WORDS, n)
    x = np.stack([recording(w) for w in words]).astype(np.float32)
    return torch.from_numpy(x).transpose(1, 2) / 1.5, torch.from_numpy(words)


labelled, unlabelled, test = collect(1500), collect(2500)[0], collect(600)
few = (labelled[0][:160], labelled[1][:160])


def spotter(width):
    return nn.Sequential(
        nn.Conv1d(MELS, width, 5, padding=2), nn.ReLU(),
        nn.Conv1d(width, width, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(2),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(2 * width, WORDS))


@torch.no_grad()
def score(net):
    net.eval()
    return (net(test[0]).argmax(1) == test[1]).float().mean().item()


def train_on_labels(net, x, y, epochs, lr, tag):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for epoch in range(epochs):
        net.train()
        for idx in torch.randperm(len(x)).split(32):
            loss = F.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if (epoch + 1) % max(1, epochs // 3) == 0:
            print(f"{tag} epoch {epoch + 1}: loss {loss.item():.4f} test acc {score(net):.3f}")
    return net


class SoftTargets(nn.Module):
    """T^2-scaled divergence from the teacher's distribution. Minus the teacher's entropy, so its floor is zero."""

    def __init__(self, temperature):
        super().__init__()
        self.t = temperature

    def forward(self, student, teacher):
        log_p = F.log_softmax(student / self.t, dim=1)
        log_q = F.log_softmax(teacher / self.t, dim=1)
        return F.kl_div(log_p, log_q, reduction="batchmean", log_target=True) * self.t ** 2


teacher = train_on_labels(spotter(64), *labelled, epochs=6, lr=2e-3, tag="teacher")
teacher.requires_grad_(False).eval()

torch.manual_seed(SEED + 1)
alone = train_on_labels(spotter(10), *few, epochs=30, lr=4e-3, tag="student, labels only")

torch.manual_seed(SEED + 1)
student = spotter(10)
opt = torch.optim.Adam(student.parameters(), lr=4e-3)
soft = SoftTargets(3.0)
EPOCHS = 12
for epoch in range(EPOCHS):
    student.train()
    for g in opt.param_groups:
        g["lr"] = 4e-3 * 0.5 * (1 + math.cos(math.pi * epoch / EPOCHS))
    parts = np.zeros(2)
    steps = 0
    for idx in torch.randperm(len(unlabelled)).split(50):
        xb = unlabelled[idx]
        pick = torch.randint(0, len(few[0]), (16,))
        kd = soft(student(xb), teacher(xb))
        ce = F.cross_entropy(student(few[0][pick]), few[1][pick])
        loss = kd + 0.2 * ce
        opt.zero_grad()
        loss.backward()
        opt.step()
        parts += [kd.item(), ce.item()]
        steps += 1
    print(f"distilled epoch {epoch + 1}: kd {parts[0] / steps:.4f} ce {parts[1] / steps:.4f} test acc {score(student):.3f}")
print(f"teacher {score(teacher):.3f}  student on labels only {score(alone):.3f}  distilled student {score(student):.3f}")
