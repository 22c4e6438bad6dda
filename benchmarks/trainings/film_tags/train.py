"""Two tasks from one plot embedding: which tags a film carries, and its audience score."""
import torch
import torch.nn as nn
from sklearn.metrics import f1_score
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(55)

TAGS = ["drama", "comedy", "crime", "romance", "war", "family", "sci-fi", "horror"]
EMB = 40
MIX = torch.randn(EMB, len(TAGS))
TASTE = torch.randn(len(TAGS)) * 0.5


class Films(Dataset):
    def __init__(self, n):
        self.emb = torch.randn(n, EMB)
        affinity = self.emb @ MIX / EMB**0.5 + 0.3 * torch.randn(n, len(TAGS))
        self.tags = (affinity > 0.4).float()
        self.score = 6.5 + torch.tanh(affinity) @ TASTE + 0.1 * torch.randn(n)

    def __len__(self):
        return len(self.emb)

    def __getitem__(self, i):
        return {"emb": self.emb[i], "tags": self.tags[i], "score": self.score[i]}


class FilmNet(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(EMB, hidden), nn.LayerNorm(hidden), nn.GELU(),
            nn.Linear(hidden, hidden), nn.GELU(),
        )
        self.tag_head = nn.Linear(hidden, len(TAGS))
        self.score_head = nn.Linear(hidden, 1)

    def forward(self, emb):
        h = self.trunk(emb)
        return self.tag_head(h), self.score_head(h).squeeze(-1)


class FilmLoss(nn.Module):
    def __init__(self, score_mean, score_std, score_weight=0.5):
        super().__init__()
        self.tag_loss = nn.CrossEntropyLoss()
        self.score_loss = nn.SmoothL1Loss()
        self.mean, self.std, self.weight = score_mean, score_std, score_weight

    def forward(self, outputs, batch):
        tag_logits, score = outputs
        tags = self.tag_loss(tag_logits, batch["tags"])
        value = self.score_loss(score, (batch["score"] - self.mean) / self.std)
        return tags + self.weight * value, tags.item(), value.item()


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    guess, truth, err = [], [], []
    for batch in loader:
        logits, score = model(batch["emb"])
        guess.append(torch.sigmoid(logits) > 0.5)
        truth.append(batch["tags"] > 0.5)
        err.append((score * criterion.std + criterion.mean - batch["score"]).abs())
    guess, truth = torch.cat(guess), torch.cat(truth)
    return {
        "macro_f1": f1_score(truth.numpy(), guess.numpy(), average="macro", zero_division=0),
        "exact": (guess == truth).all(1).float().mean().item(),
        "score_mae": torch.cat(err).mean().item(),
    }


train_films, val_films = Films(3000), Films(800)
train_loader = DataLoader(train_films, batch_size=64, shuffle=True)
val_loader = DataLoader(val_films, batch_size=400)
model = FilmNet()
criterion = FilmLoss(train_films.score.mean(), train_films.score.std())
optimizer = torch.optim.AdamW(model.parameters(), lr=1.5e-3, weight_decay=0.01)

print("tags per film: %.2f" % train_films.tags.sum(1).mean())
for epoch in range(12):
    model.train()
    sums = [0.0, 0.0]
    for batch in train_loader:
        optimizer.zero_grad()
        loss, tag_part, score_part = criterion(model(batch["emb"]), batch)
        loss.backward()
        optimizer.step()
        sums[0] += tag_part
        sums[1] += score_part
    m = evaluate(model, val_loader, criterion)
    print(
        f"epoch {epoch + 1:2d} tag loss {sums[0] / len(train_loader):.4f} score loss {sums[1] / len(train_loader):.4f} | "
        f"macro F1 {m['macro_f1']:.3f} exact {m['exact']:.3f} score MAE {m['score_mae']:.3f}"
    )
