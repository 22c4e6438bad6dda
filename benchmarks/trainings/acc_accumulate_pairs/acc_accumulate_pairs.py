"""Same author or not: a two-branch net with shared weights under accelerate, gradients accumulated over four batches."""

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Dataset

AUTHORS, WORDS, LENGTH = 440, 60, 60


class Pairs(Dataset):
    """Word counts of two texts; half of the pairs are by one author. The authors of training and test differ."""

    def __init__(self, n, authors, seed):
        g = torch.Generator().manual_seed(seed)
        habits = torch.distributions.Dirichlet(torch.full((WORDS,), 0.5))
        with torch.random.fork_rng():
            torch.manual_seed(123)
            style = habits.sample((AUTHORS,))[authors]
        first = torch.randint(0, len(style), (n,), generator=g)
        self.same = torch.randint(0, 2, (n,), generator=g)
        other = (first + 1 + torch.randint(0, len(style) - 1, (n,), generator=g)) % len(style)
        second = torch.where(self.same == 1, first, other)
        draw = lambda who: torch.multinomial(style[who], LENGTH, replacement=True, generator=g)
        count = lambda text: F.one_hot(text, WORDS).sum(1).float().sqrt()
        self.one, self.two = count(draw(first)), count(draw(second))

    def __len__(self):
        return len(self.same)

    def __getitem__(self, i):
        return self.one[i], self.two[i], self.same[i].float()


class Verifier(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(WORDS, width), nn.LayerNorm(width), nn.GELU(), nn.Linear(width, 32))
        self.judge = nn.Sequential(nn.Linear(64, 32), nn.GELU(), nn.Linear(32, 1))

    def forward(self, one, two):
        a, b = self.encode(one), self.encode(two)  # the same weights see both texts
        return self.judge(torch.cat([(a - b).abs(), a * b], dim=1)).squeeze(1)


def main():
    set_seed(77)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    train = DataLoader(Pairs(4000, slice(0, 400), 1), batch_size=16, shuffle=True)
    test = DataLoader(Pairs(800, slice(400, 440), 2), batch_size=200)
    model = Verifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=20)
    model, optimizer, train, test, schedule = accelerator.prepare(model, optimizer, train, test, schedule)
    for epoch in range(4):
        model.train()
        total = 0.0
        for one, two, same in train:
            with accelerator.accumulate(model):  # steps and clears only on every fourth batch
                loss = F.binary_cross_entropy_with_logits(model(one, two), same)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            total += loss.item()
        model.eval()
        right = seen = 0
        with torch.no_grad():
            for one, two, same in test:
                right += ((model(one, two) > 0) == (same > 0.5)).sum().item()
                seen += len(same)
        accelerator.print(f"epoch {epoch} loss {total / len(train):.4f} accuracy on new authors {right / seen:.3f}")


if __name__ == "__main__":
    main()
