from pathlib import Path

import torch
import yaml
from torch import nn

with open(Path(__file__).with_name("config.yaml")) as stream:
    cfg = yaml.safe_load(stream)

torch.manual_seed(cfg["seed"])


def shapes(count, side):
    """Squares and crosses on a dark ground."""
    pictures = 0.1 * torch.rand(count, 1, side, side)
    label = torch.randint(2, (count,))
    for picture, kind in zip(pictures, label):
        r, c = torch.randint(1, side - 5, (2,)).tolist()
        if kind == 0:
            picture[0, r : r + 4, c : c + 4] = 1.0
        else:
            picture[0, r + 2, c : c + 5] = 1.0
            picture[0, r : r + 5, c + 2] = 1.0
    return pictures, label


def conv_block(cin, cout, kernel, act):
    return nn.Sequential(
        nn.Conv2d(cin, cout, kernel, padding=kernel // 2),
        nn.BatchNorm2d(cout),
        act(),
        nn.MaxPool2d(2),
    )


m = cfg["model"]
activation = getattr(nn, m["activation"])
c1, c2 = m["channels"]
side = cfg["data"]["image"]
model = nn.Sequential(
    conv_block(1, c1, m["kernel_size"], activation),
    conv_block(c1, c2, m["kernel_size"], activation),
    nn.Flatten(),
    nn.Dropout(m["dropout"]),
    nn.Linear(c2 * (side // 4) ** 2, 2),
)

o = cfg["optimizer"]
opt = getattr(torch.optim, o["name"])(model.parameters(), lr=o["lr"], weight_decay=o["weight_decay"])
loss_fn = getattr(nn, cfg["training"]["loss"])()
pictures, label = shapes(cfg["data"]["size"], side)
loader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(pictures, label), batch_size=cfg["data"]["batch_size"], shuffle=True
)

for epoch in range(cfg["training"]["epochs"]):
    model.train()
    for x, y in loader:
        opt.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(pictures).argmax(1) == label).float().mean().item()
    print(f"epoch={epoch} acc={acc:.3f}")
