from dataclasses import dataclass, field

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class OptimConfig:
    name: str = "adamw"
    lr: float = 1e-3
    weight_decay: float = 0.01
    betas: tuple = (0.9, 0.95)


@dataclass
class ModelConfig:
    n_in: int = 12
    n_hidden: int = 36
    n_out: int = 3
    dropout: float = 0.2
    activation: str = "silu"


@dataclass
class Config:
    batch_size: int = 30
    max_epochs: int = 20
    seed: int = 99
    optim: OptimConfig = field(default_factory=OptimConfig)
    model: ModelConfig = field(default_factory=lambda: ModelConfig(dropout=0.05))


class MLP(nn.Module):
    ACTIVATIONS = {"relu": nn.ReLU, "silu": nn.SiLU, "gelu": nn.GELU}

    def __init__(self, cfg: ModelConfig):
        super().__init__()
        self.up = nn.Linear(cfg.n_in, cfg.n_hidden)
        self.act = self.ACTIVATIONS[cfg.activation]()
        self.norm = nn.LayerNorm(cfg.n_hidden)
        self.drop = nn.Dropout(cfg.dropout)
        self.down = nn.Linear(cfg.n_hidden, cfg.n_out)

    def forward(self, x):
        return self.down(self.drop(self.norm(self.act(self.up(x)))))


def train(cfg: Config) -> float:
    torch.manual_seed(cfg.seed)
    x = torch.randn(270, cfg.model.n_in)
    y = x[:, :3].argmax(1)
    loader = DataLoader(TensorDataset(x, y), batch_size=cfg.batch_size, shuffle=True)
    model = MLP(cfg.model)
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=cfg.optim.lr,
        betas=cfg.optim.betas,
        weight_decay=cfg.optim.weight_decay,
    )
    loss_fn = nn.CrossEntropyLoss()
    for _ in range(cfg.max_epochs):
        for xb, yb in loader:
            optimizer.zero_grad()
            loss_fn(model(xb), yb).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


if __name__ == "__main__":
    config = Config(max_epochs=5, optim=OptimConfig(lr=3e-3))
    print(config)
    print("final accuracy: {:.3f}".format(train(config)))
