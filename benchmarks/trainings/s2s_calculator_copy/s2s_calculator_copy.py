"""Postfix to result digits with a pre-norm transformer: Noam warm-up, label smoothing, padding ignored in the loss."""

import random

import torch
from torch import nn

random.seed(77)
torch.manual_seed(77)
PAD, BOS, EOS, PLUS = 0, 1, 2, 13


def task():
    """Two numbers below 100 and a plus sign behind them; the answer is written from its last digit on."""
    a, b = random.randrange(100), random.randrange(100)
    source = [3 + int(d) for d in str(a)[::-1]] + [PLUS] + [3 + int(d) for d in str(b)[::-1]]
    return source, [BOS] + [3 + int(d) for d in str(a + b)[::-1]] + [EOS]


def pad(rows):
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


class Adder(nn.Module):
    def __init__(self, width=64, vocab=14):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=PAD)
        self.places = nn.Embedding(10, width)
        self.core = nn.Transformer(width, 4, 2, 2, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.core.encoder.enable_nested_tensor = False
        self.out = nn.Linear(width, vocab, bias=False)
        self.out.weight = self.embed.weight  # tied: one matrix for input and output
        nn.init.normal_(self.embed.weight, std=width**-0.5)

    def forward(self, source, target):
        s = self.embed(source) * 8 + self.places.weight[: source.shape[1]]
        t = self.embed(target) * 8 + self.places.weight[: target.shape[1]]
        causal = torch.triu(torch.ones(target.shape[1], target.shape[1], dtype=torch.bool), 1)
        hidden = self.core(
            s, t, tgt_mask=causal, src_key_padding_mask=source == PAD, memory_key_padding_mask=source == PAD
        )
        return self.out(hidden)


@torch.no_grad()
def solve(model, source, steps=4):
    model.eval()
    made = torch.full((len(source), 1), BOS)
    for _ in range(steps):
        made = torch.cat([made, model(source, made)[:, -1].argmax(-1, keepdim=True)], 1)
    return made


def main(steps=450, warm_up=80):
    model = Adder()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min((s + 1) / warm_up, (warm_up / (s + 1)) ** 0.5)
    )
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.05)
    # All sums of two numbers below 100 are 10,000 questions: a held-out question may well have been seen.
    held_out = [task() for _ in range(300)]
    for step in range(1, steps + 1):
        source, target = map(pad, zip(*[task() for _ in range(64)]))
        model.train()
        logits = model(source, target[:, :-1])
        loss = criterion(logits.flatten(0, 1), target[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 75 == 0:
            source, target = map(pad, zip(*held_out))
            made = solve(model, source)[:, : target.shape[1]]
            right = ((made == target) | (target == PAD)).all(1).float().mean().item()
            print(f"step {step} lr {schedule.get_last_lr()[0]:.5f} loss {loss.item():.4f} answers right {right:.3f}")


if __name__ == "__main__":
    main()
