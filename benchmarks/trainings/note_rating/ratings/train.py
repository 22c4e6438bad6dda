import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader

from ratings.data import VOCAB_SIZE, LengthBatches, Notes, collate
from ratings.model import NoteScorer


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    pred, gold = [], []
    for ids, keep, score in loader:
        pred.append(model(ids, keep))
        gold.append(score)
    pred, gold = torch.cat(pred), torch.cat(gold)
    mae = (pred - gold).abs().mean().item()
    r2 = 1 - ((pred - gold) ** 2).sum().item() / ((gold - gold.mean()) ** 2).sum().item()
    return mae, r2


def main():
    torch.manual_seed(11)
    train_set, val_set = Notes(1600, seed=1), Notes(400, seed=2)
    train_loader = DataLoader(train_set, batch_sampler=LengthBatches(train_set, 32, seed=3), collate_fn=collate)
    val_loader = DataLoader(val_set, batch_size=100, collate_fn=collate)
    model = NoteScorer(VOCAB_SIZE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    for epoch in range(6):
        model.train()
        total = 0.0
        for ids, keep, score in train_loader:
            loss = F.mse_loss(model(ids, keep), score)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(score)
        mae, r2 = evaluate(model, val_loader)
        print(f"epoch {epoch + 1:2d}  train mse {total / len(train_set):.4f}  val mae {mae:.4f}  val r2 {r2:.3f}")


if __name__ == "__main__":
    main()
