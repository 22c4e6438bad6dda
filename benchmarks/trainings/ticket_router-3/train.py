"""Route short support tickets (token ids) to one of four queues, with accelerate."""
import random

import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, Dataset

PAD, CLS = 0, 1
VOCAB = 120
BLOCK = 32
QUEUES = 4


class TicketDataset(Dataset):
    """Each ticket is filler words plus a product word and a verb word; queue depends on both."""

    def __init__(self, size, seed):
        rng = random.Random(seed)
        self.items = []
        for _ in range(size):
            length = rng.randint(8, 22)
            words = [rng.randint(30, VOCAB - 1) for _ in range(length)]
            product, verb = rng.randint(0, 5), rng.randint(0, 5)
            a, b = rng.sample(range(length), 2)
            words[a] = 2 + product
            words[b] = 10 + verb
            queue = 2 * (product % 2) + (verb % 2)
            self.items.append(([CLS] + words, queue))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    ids = torch.full((len(batch), BLOCK), PAD)
    attention_mask = torch.zeros(len(batch), BLOCK, dtype=torch.long)
    labels = torch.tensor([queue for _, queue in batch])
    for row, (tokens, _) in enumerate(batch):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        attention_mask[row, : len(tokens)] = 1
    return {"input_ids": ids, "attention_mask": attention_mask, "labels": labels}


class Router(nn.Module):
    def __init__(self, dim=48, heads=4, depth=2):
        super().__init__()
        self.words = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.places = nn.Parameter(torch.randn(BLOCK, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, heads, 96, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, QUEUES))

    def forward(self, input_ids, attention_mask):
        x = self.words(input_ids) + self.places
        x = self.encoder(x, src_key_padding_mask=attention_mask.bool())
        return self.head(x[:, 0])


def main():
    set_seed(11)
    accelerator = Accelerator(cpu=True)
    train_dl = DataLoader(TicketDataset(4000, 1), batch_size=50, shuffle=True, collate_fn=collate)
    eval_dl = DataLoader(TicketDataset(800, 2), batch_size=100, collate_fn=collate)

    model = Router()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.5e-3)
    criterion = nn.CrossEntropyLoss()
    model, optimizer, train_dl, eval_dl = accelerator.prepare(model, optimizer, train_dl, eval_dl)
    epochs = 4
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer.optimizer, T_max=epochs)

    for epoch in range(epochs):
        model.train()
        losses = []
        for batch in train_dl:
            optimizer.zero_grad()
            logits = model(batch["input_ids"], batch["attention_mask"])
            loss = criterion(logits, batch["labels"])
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        schedule.step()

        model.eval()
        correct = seen = 0
        for batch in eval_dl:
            with torch.inference_mode():
                logits = model(batch["input_ids"], batch["attention_mask"])
            pred, ref = accelerator.gather_for_metrics((logits.argmax(-1), batch["labels"]))
            correct += (pred == ref).sum().item()
            seen += ref.numel()
        accelerator.print(f"epoch {epoch}: train_loss={sum(losses) / len(losses):.4f} eval_acc={correct / seen:.3f}")


if __name__ == "__main__":
    main()
