"""Two-tower contrastive matching of voice features to face features, scored by retrieval."""
import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--base-lr", type=float, default=1e-4, help="for a batch of 4096, scaled linearly")
    p.add_argument("--warmup-epochs", type=int, default=1)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--seed", type=int, default=58)
    return p.parse_args()


class People:
    """A hidden identity vector drives both modalities through different non-linear maps."""

    def __init__(self, latent=8, voice=40, face=60):
        self.latent = latent
        self.to_voice = torch.randn(latent, voice)
        self.to_face = torch.randn(latent, face)

    def draw(self, n):
        who = torch.randn(n, self.latent)
        voice = torch.sin(who @ self.to_voice * 0.6) + 0.2 * torch.randn(n, self.to_voice.shape[1])
        face = torch.tanh(who @ self.to_face * 0.6) + 0.2 * torch.randn(n, self.to_face.shape[1])
        return voice, face


def tower(n_in, dim):
    return nn.Sequential(nn.Linear(n_in, 128), nn.LayerNorm(128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, dim))


class Matcher(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.voice, self.face = tower(40, dim), tower(60, dim)
        self.log_scale = nn.Parameter(torch.tensor(math.log(10.0)))

    def forward(self, v, f):
        v, f = F.normalize(self.voice(v), dim=1), F.normalize(self.face(f), dim=1)
        return self.log_scale.clamp(max=math.log(100)).exp() * v @ f.T


def clip_loss(sim):
    target = torch.arange(len(sim))
    return 0.5 * (F.cross_entropy(sim, target) + F.cross_entropy(sim.T, target))


@torch.no_grad()
def recall_at(model, v, f, k):
    top = model(v, f).topk(k, dim=1).indices
    return (top == torch.arange(len(v))[:, None]).any(1).float().mean().item()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    people = People()
    v_train, f_train = people.draw(4000)
    v_test, f_test = people.draw(400)

    model = Matcher(args.dim)
    lr = args.base_lr * args.batch_size / 4096
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    per_epoch = math.ceil(len(v_train) / args.batch_size)
    total, warm = args.epochs * per_epoch, args.warmup_epochs * per_epoch

    def schedule(step):
        if step < warm:
            return (step + 1) / warm
        return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, total - warm)))

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
    for epoch in range(1, args.epochs + 1):
        model.train()
        running = 0.0
        for idx in torch.randperm(len(v_train)).split(args.batch_size):
            loss = clip_loss(model(v_train[idx], f_train[idx]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            running += loss.item() / per_epoch
        model.eval()
        r1, r10 = (recall_at(model, v_test, f_test, k) for k in (1, 10))
        print(f"epoch {epoch:2d} loss {running:.4f} R@1 {r1:.3f} R@10 {r10:.3f} (chance {1 / 400:.3f}, {10 / 400:.3f})")


if __name__ == "__main__":
    main()
