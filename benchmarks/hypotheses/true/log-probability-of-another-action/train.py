"""Which of eight offers suits a visitor: a bandit with a context (policy gradient)."""

import torch
from torch import nn

FEATURES, OFFERS, UPDATES, VISITORS = 6, 5, 200, 64
TASTES = 1.5 * torch.randn(FEATURES, OFFERS, generator=torch.Generator().manual_seed(8))


def log_chances(logits, actions):
    """Of the actions that were taken."""
    ordered = torch.log_softmax(logits, 1).sort(1).values
    return ordered.gather(1, actions[:, None]).squeeze(1)


def rewards_of(visitors, actions):
    liking = torch.sigmoid(visitors @ TASTES).gather(1, actions[:, None]).squeeze(1)
    return (torch.rand(len(visitors)) < liking).float()


def main():
    torch.manual_seed(0)
    policy = nn.Linear(FEATURES, OFFERS)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.03)
    asked = torch.randn(1000, FEATURES, generator=torch.Generator().manual_seed(9))
    for update in range(UPDATES):
        visitors = torch.randn(VISITORS, FEATURES)
        logits = policy(visitors)
        actions = torch.distributions.Categorical(logits=logits).sample()
        rewards = rewards_of(visitors, actions)
        loss = -(log_chances(logits, actions) * (rewards - rewards.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 40 == 39:
            with torch.no_grad():
                best = (policy(asked).argmax(1) == (asked @ TASTES).argmax(1)).float().mean().item()
            print(f"update {update + 1} loss {loss.item():.4f} test accuracy {best:.4f}")


if __name__ == "__main__":
    main()
