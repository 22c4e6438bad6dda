import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from pkg_listwise.lists import FEATURES, Lists
from pkg_listwise.metrics import ndcg
from pkg_listwise.model import Scorer


def listnet(score, grade):
    """Cross-entropy between two softmaxes over the documents; its floor is the entropy of the grades, not 0."""
    return F.cross_entropy(score, F.softmax(grade, dim=1))


def main(epochs=10):
    torch.manual_seed(45)
    train, test = Lists(2000, 1), Lists(500, 2)
    loader = DataLoader(train, batch_size=40, shuffle=True)
    model = Scorer(FEATURES)
    optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
    floor = torch.distributions.Categorical(logits=test.grade).entropy().mean().item()
    print(f"random order {ndcg(torch.rand_like(test.grade), test.grade):.3f}, floor of the loss {floor:.3f}")
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, grade in loader:
            loss = listnet(model(x), grade)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            score = model(test.x)
        print(
            f"epoch {epoch} loss {total / len(loader):.4f} test loss {listnet(score, test.grade).item():.4f} "
            f"NDCG@5 {ndcg(score, test.grade):.3f}"
        )


if __name__ == "__main__":
    main()
