"""Pretrain a text-like bag encoder on a large task, then adapt it to a small one with new classes."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(55)
VOCAB, LEN = 200, 20
topic_bank = torch.distributions.Dirichlet(torch.full((12, VOCAB), 0.08)).sample()


def documents(n, topics):
    label = torch.randint(len(topics), (n,))
    mix = 0.55 * topic_bank[topics][label] + 0.45 / VOCAB
    return torch.multinomial(mix, LEN, replacement=True), label


class TextNet(nn.Module):
    def __init__(self, n_classes, dim=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.mix = nn.Sequential(nn.Linear(dim, 96), nn.GELU(), nn.LayerNorm(96), nn.Linear(96, 64), nn.GELU())
        self.classifier = nn.Linear(64, n_classes)

    def features(self, tokens):
        return self.mix(self.embed(tokens).mean(1))

    def forward(self, tokens):
        return self.classifier(self.features(tokens))


def build_optimizer(model, lr_body, lr_head):
    head = list(model.classifier.parameters())
    ids = {id(p) for p in head}
    body = [p for p in model.parameters() if id(p) not in ids]
    return torch.optim.AdamW([{"params": body, "lr": lr_body}, {"params": head, "lr": lr_head}], weight_decay=1e-3)


def run_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for tokens, label in loader:
        loss = F.cross_entropy(model(tokens), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(label)
    return total / len(loader.dataset)


@torch.no_grad()
def score(model, tokens, label):
    model.eval()
    logits = model(tokens)
    return F.cross_entropy(logits, label).item(), (logits.argmax(-1) == label).float().mean().item()


def main():
    source, target = list(range(8)), [8, 9, 10, 11, 0, 1]
    pre = TensorDataset(*documents(4000, source))
    pre_val = documents(1000, source)
    model = TextNet(len(source))
    optimizer = build_optimizer(model, 2e-3, 2e-3)
    loader = DataLoader(pre, 64, shuffle=True)
    for epoch in range(4):
        loss = run_epoch(model, loader, optimizer)
        print(f"pretrain {epoch}: loss {loss:.3f}  val acc {score(model, *pre_val)[1]:.3f}")

    # ---- adaptation -----------------------------------------------------
    small = TensorDataset(*documents(360, target))
    test = documents(1500, target)
    optimizer = build_optimizer(model, lr_body=3e-4, lr_head=5e-3)
    model.classifier = nn.Linear(64, len(target))
    loader = DataLoader(small, 24, shuffle=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
    for epoch in range(12):
        loss = run_epoch(model, loader, optimizer)
        schedule.step()
        if epoch % 2 == 1:
            test_loss, acc = score(model, *test)
            print(f"finetune {epoch}: loss {loss:.3f}  test loss {test_loss:.3f}  test acc {acc:.3f}")


if __name__ == "__main__":
    main()
