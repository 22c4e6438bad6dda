"""What the network said before about every training example."""

import torch


class Memory:
    """One row of class probabilities an example; rows move only when their example is seen."""

    def __init__(self, examples: int, classes: int, beta: float) -> None:
        self.rows = torch.full((examples, classes), 1.0 / classes)
        self.beta = beta

    @torch.no_grad()
    def move(self, index: torch.Tensor, probabilities: torch.Tensor) -> torch.Tensor:
        """Takes in new predictions for the examples of `index`; returns their rows as they are now."""
        moved = self.beta * self.rows[index] + (1 - self.beta) * probabilities.detach()
        self.rows[index] = moved
        return moved


def slow_targets(one_hot: torch.Tensor, memory: torch.Tensor, alpha: float) -> torch.Tensor:
    """The target: a fixed mixture of label and memory."""
    return alpha * one_hot + (1 - alpha) * memory


def soft_cross_entropy(log_probabilities: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy against targets that are distributions."""
    return -(targets * log_probabilities).sum(dim=1).mean()
