# Ragged event lists: predict the log-odds-like "risk" of a visit from a variable number of lab events.
# Events are padded to the longest list of the batch and pooled with a mask.
import random

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

SEED = 31
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

N_KINDS = 12
kind_weight = np.random.normal(0, 1.0, N_KINDS)
kind_weight[3] = 2.5


def make_visit():
    n = np.random.randint(1, 21)
    kinds = np.random.randint(0, N_KINDS, n)
    values = np.random.normal(0, 1, n)
    score = np.mean(kind_weight[kinds] * values) * 2.0 + 1.2 * np.max(values) - 6.0
    return (torch.as_tensor(kinds), torch.as_tensor(values, dtype=torch.float32),
            torch.tensor(score + np.random.normal(0, 0.1), dtype=torch.float32))


visits = [make_visit() for _ in range(5200)]
train_set, valid_set, test_set = visits[:4200], visits[4200:4700], visits[4700:]


def collate(batch):
    kinds = pad_sequence([k for k, _, _ in batch], batch_first=True, padding_value=N_KINDS)
    values = pad_sequence([v for _, v, _ in batch], batch_first=True, padding_value=0.0)
    target = torch.stack([t for _, _, t in batch])
    return kinds, values, target


class EventPool(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.kind = nn.Embedding(N_KINDS + 1, 16, padding_idx=N_KINDS)
        self.phi = nn.Sequential(nn.Linear(17, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.rho = nn.Sequential(nn.Linear(2 * width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, kinds, values):
        real = kinds.ne(N_KINDS)
        h = self.phi(torch.cat([self.kind(kinds), values.unsqueeze(-1)], dim=-1))
        mean = (h * real.unsqueeze(-1)).sum(1) / real.sum(1, keepdim=True)
        top = h.masked_fill(~real.unsqueeze(-1), float("-inf")).amax(1)
        return self.rho(torch.cat([mean, top], dim=-1)).squeeze(-1)


def log_cosh(pred, target):
    diff = pred - target
    return (diff + nn.functional.softplus(-2.0 * diff) - np.log(2.0)).mean()


def rmse(net, data):
    net.eval()
    total = 0.0
    with torch.no_grad():
        for i in range(0, len(data), 250):
            k, v, t = collate(data[i:i + 250])
            total += (net(k, v) - t).pow(2).sum().item()
    net.train()
    return (total / len(data)) ** 0.5


net = EventPool()
# the targets sit around -4: start the output there
mean_target = torch.stack([t for _, _, t in train_set]).mean()
with torch.no_grad():
    net.rho[-1].bias.fill_(mean_target)

optimizer = torch.optim.NAdam(net.parameters(), lr=3e-3)
best, best_state, patience = float("inf"), None, 0
truth = torch.stack([t for _, _, t in test_set])
print("predicting the mean: rmse %.3f" % (truth - mean_target).pow(2).mean().sqrt())

for epoch in range(1, 41):
    # batches of visits of similar length keep the padding small; the order of the batches is random
    order = sorted(range(len(train_set)), key=lambda i: len(train_set[i][0]) + random.random() * 4)
    chunks = [order[i:i + 50] for i in range(0, len(order), 50)]
    random.shuffle(chunks)
    losses = []
    for idx in chunks:
        kinds, values, target = collate([train_set[i] for i in idx])
        loss = log_cosh(net(kinds, values), target)
        net.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    score = rmse(net, valid_set)
    print(f"[{epoch:02d}] log-cosh {np.mean(losses):.4f}  valid rmse {score:.4f}")
    if score < best - 1e-4:
        best, patience = score, 0
        best_state = {k: v.clone() for k, v in net.state_dict().items()}
    else:
        patience += 1
        if patience == 6:
            print("no gain for 6 epochs, stopping")
            break
    if epoch == 12:
        for g in optimizer.param_groups:
            g["lr"] *= 0.3

net.load_state_dict(best_state)
print(f"test rmse {rmse(net, test_set):.4f}")
