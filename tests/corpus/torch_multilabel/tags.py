"""Several tags for one text; two parameter groups with rates of their own."""
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

NUM_TAGS = 4
VOCABULARY = 50


class Texts(Dataset):
    def __init__(self, size: int, seed: int) -> None:
        gen = torch.Generator().manual_seed(seed)
        self.words = torch.randint(VOCABULARY, (size, 12), generator=gen)
        self.tags = torch.stack([(self.words % 10 == k).any(1) for k in range(NUM_TAGS)], 1).float()

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.words[index], self.tags[index]


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(VOCABULARY, 16, mode="mean")
        self.hidden = nn.Linear(16, 32)
        self.act = nn.PReLU()
        self.out = nn.Linear(32, NUM_TAGS)

    def forward(self, words: Tensor) -> Tensor:
        return self.out(self.act(self.hidden(self.bag(words))))


def main() -> None:
    torch.manual_seed(31)
    train, test = Texts(300, seed=1), Texts(60, seed=2)
    loader = DataLoader(train, batch_size=20, shuffle=True, num_workers=0)
    model = Tagger()
    optimizer = torch.optim.Adam(
        [
            {"params": model.bag.parameters(), "lr": 5e-2},
            {"params": [*model.hidden.parameters(), *model.act.parameters(), *model.out.parameters()]},
        ],
        lr=1e-2,
    )
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.full((NUM_TAGS,), 1.5))
    for epoch in range(5):
        model.train()
        for words, tags in loader:
            optimizer.zero_grad()
            loss = criterion(model(words), tags)
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.inference_mode():
        exact = ((model(test.words) > 0) == test.tags.bool()).float().mean().item()
    print(f"tags right: {exact:.3f}")


if __name__ == "__main__":
    main()
