"""Keyword defaults of the functions are the configuration."""
import torch
from torch import nn


def build_model(inputs, hidden=40, depth=2, dropout=0.1, activation=nn.ReLU):
    blocks = []
    for _ in range(depth):
        blocks += [nn.Linear(inputs, hidden), activation(), nn.Dropout(dropout)]
        inputs = hidden
    return nn.Sequential(*blocks, nn.Linear(hidden, 1))


def make_mail(rows=300, words=25, seed=0):
    gen = torch.Generator().manual_seed(seed)
    counts = torch.poisson(torch.full((rows, words), 1.5), generator=gen)
    spam = (counts[:, :4].sum(1) > counts[:, 4:8].sum(1)).float().unsqueeze(1)
    return torch.log1p(counts), spam


def train(model, x, y, *, lr=0.02, epochs=9, batch_size=60, optimizer_class=torch.optim.Adagrad):
    optimizer = optimizer_class(model.parameters(), lr=lr)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(epochs):
        model.train()
        for rows in torch.randperm(len(x)).split(batch_size):
            optimizer.zero_grad()
            loss = loss_fn(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
    return model


if __name__ == "__main__":
    torch.manual_seed(4)
    x, y = make_mail()
    model = build_model(x.shape[1], dropout=0.25)
    train(model, x, y, epochs=6)
    model.eval()
    with torch.no_grad():
        accuracy = ((model(x) > 0).float() == y).float().mean().item()
    print(f"train accuracy {accuracy:.3f}")
