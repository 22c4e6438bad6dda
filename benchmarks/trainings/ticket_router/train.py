import time

import torch
from torch import nn

from data import N_WORDS, TOPICS, collate, make_tickets

torch.manual_seed(11)


class TicketRouter(nn.Module):
    def __init__(self, d_model=32, nhead=4):
        super().__init__()
        self.embed = nn.Embedding(N_WORDS, d_model)
        self.position = nn.Parameter(torch.randn(128, d_model) * 0.02)
        layer = nn.TransformerEncoderLayer(
            d_model, nhead, dim_feedforward=64, dropout=0.1, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, num_layers=1, enable_nested_tensor=False)
        self.classify = nn.Linear(d_model, TOPICS)

    def forward(self, ids, pad_mask):
        x = self.embed(ids) + self.position[: ids.size(1)]
        x = self.encoder(x, src_key_padding_mask=pad_mask)
        x = x.masked_fill(pad_mask.unsqueeze(-1), 0.0)
        pooled = x.sum(1) / (~pad_mask).sum(1, keepdim=True)
        return self.classify(pooled)


def iterate(docs, labels, batch_size, shuffle):
    order = torch.arange(len(docs))
    if shuffle:  # bucket by length (random among equals) so that long tickets share a batch
        lengths = torch.tensor([len(d) for d in docs], dtype=torch.float)
        order = (lengths + torch.rand(len(docs))).argsort()
    chunks = order.split(batch_size)
    for k in torch.randperm(len(chunks)) if shuffle else range(len(chunks)):
        ids, pad_mask = collate([docs[i] for i in chunks[k]])
        yield ids, pad_mask, labels[chunks[k]]


@torch.no_grad()
def evaluate(model, docs, labels):
    model.eval()
    loss_sum, correct = 0.0, 0
    for ids, pad_mask, y in iterate(docs, labels, 64, shuffle=False):
        logits = model(ids, pad_mask)
        loss_sum += nn.functional.cross_entropy(logits, y, reduction="sum").item()
        correct += (logits.argmax(1) == y).sum().item()
    return loss_sum / len(docs), correct / len(docs)


def main():
    train_docs, train_y = make_tickets(2400, seed=0)
    test_docs, test_y = make_tickets(600, seed=1)
    model = TicketRouter()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(1, 10):
        model.train()
        started, running = time.time(), 0.0
        for ids, pad_mask, y in iterate(train_docs, train_y, 32, shuffle=True):
            optimizer.zero_grad()
            loss = loss_fn(model(ids, pad_mask), y)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(y)
        test_loss, test_acc = evaluate(model, test_docs, test_y)
        print(
            f"epoch {epoch:2d}  train loss {running / len(train_docs):.4f}  test loss {test_loss:.4f}  "
            f"test acc {test_acc:.3f}  ({time.time() - started:.1f}s)"
        )


if __name__ == "__main__":
    main()
