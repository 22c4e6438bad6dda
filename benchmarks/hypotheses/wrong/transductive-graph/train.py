"""The field of a paper from its words and from what it cites (graph convolutions)."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

PAPERS, WORDS, FIELDS, EPOCHS = 400, 40, 4, 60


@dataclass
class Graph:
    features: torch.Tensor
    edges: torch.Tensor
    fields: torch.Tensor
    train: torch.Tensor
    test: torch.Tensor


def citations():
    generator = torch.Generator().manual_seed(2)
    fields = torch.randint(0, FIELDS, (PAPERS,), generator=generator)
    centres = 0.45 * torch.randn(FIELDS, WORDS, generator=generator)
    features = centres[fields] + torch.randn(PAPERS, WORDS, generator=generator)
    chance = torch.where(fields[:, None] == fields, 0.03, 0.006)
    upper = (torch.rand(PAPERS, PAPERS, generator=generator) < chance).triu(1)
    order = torch.randperm(PAPERS, generator=generator)
    train = torch.zeros(PAPERS, dtype=torch.bool)
    train[order[:160]] = True
    return Graph(features, (upper | upper.T).float(), fields, train, ~train)


def normalised(edges):
    looped = edges + torch.eye(len(edges))
    root = looped.sum(1).rsqrt()
    return root[:, None] * looped * root


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(WORDS, 32)
        self.second = nn.Linear(32, FIELDS)

    def forward(self, features, spread):
        hidden = functional.dropout(torch.relu(spread @ self.first(features)), 0.4, self.training)
        return spread @ self.second(hidden)


def training_loss(model, graph):
    outputs = model(graph.features, normalised(graph.edges))
    return functional.cross_entropy(outputs[graph.train], graph.fields[graph.train])


def main():
    torch.manual_seed(0)
    graph = citations()
    model = Convolutions()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(EPOCHS):
        model.train()
        loss = training_loss(model, graph)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 20 == 19:
            model.eval()
            with torch.no_grad():
                guess = model(graph.features, normalised(graph.edges)).argmax(1)
            accuracy = (guess == graph.fields)[graph.test].float().mean().item()
            print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
