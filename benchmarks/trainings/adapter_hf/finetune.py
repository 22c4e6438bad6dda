"""Pretrain a small encoder on one tagging of toy sentences, then adapt it with low-rank adapters only (HF Trainer)."""
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

VOCAB, LEN = 40, 10


@dataclass
class Stage:
    name: str
    epochs: int
    lr: float


class Sums(Dataset):
    """Tokens carry values; task 0: is the sum positive, task 1: is the sum of the first half the larger one."""

    def __init__(self, n, task, seed):
        value = np.random.default_rng(5).normal(size=VOCAB)
        self.x = np.random.default_rng(seed).integers(0, VOCAB, (n, LEN))
        v = value[self.x]
        self.y = (v.sum(1) > 0) if task == 0 else (v[:, :LEN // 2].sum(1) > v[:, LEN // 2:].sum(1))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"tokens": torch.tensor(self.x[i]), "labels": torch.tensor(int(self.y[i]))}


class LowRank(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(rank, base.in_features) * 0.05)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.a.T @ self.b.T * 2.0


class Net(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d)
        self.fc1 = nn.Linear(d * LEN, 96)
        self.fc2 = nn.Linear(96, 96)
        self.head = nn.Linear(96, 2)

    def forward(self, tokens, labels=None):
        h = torch.relu(self.fc1(self.emb(tokens).flatten(1)))
        logits = self.head(torch.relu(self.fc2(h)))
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def fit(model, stage, train, test):
    args = TrainingArguments(tempfile.mkdtemp(), num_train_epochs=stage.epochs, per_device_train_batch_size=50, learning_rate=stage.lr,
                             weight_decay=0.01, save_strategy="no", logging_strategy="no", report_to=[], disable_tqdm=True,
                             use_cpu=True, per_device_eval_batch_size=500)
    tr = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                 compute_metrics=lambda p: {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())})
    before = tr.evaluate()["eval_acc"]
    tr.train()
    n = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"{stage.name}: {n} trainable, accuracy {before:.3f} -> {tr.evaluate()['eval_acc']:.3f}")


def main():
    set_seed(0)
    model = Net()
    fit(model, Stage("pretraining", 8, 4e-3), Sums(2500, 0, 1), Sums(500, 0, 2))
    model.requires_grad_(False)
    model.fc1, model.fc2 = LowRank(model.fc1, 6), LowRank(model.fc2, 6)
    fit(model, Stage("adapters", 12, 1e-2), Sums(2500, 1, 3), Sums(500, 1, 4))


if __name__ == "__main__":
    main()
