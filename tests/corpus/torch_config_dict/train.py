import random

import numpy as np
import torch

CONFIG = {
    "seed": 17,
    "data": {"rows": 320, "features": 9, "batch_size": 32},
    "model": {
        "hidden": [28, 14],
        "norm": True,
    },
    "optim": {
        "name": "SGD",
        "lr": 0.1,
        "kwargs": {"momentum": 0.85, "nesterov": True},
    },
    "trainer": {"epochs": 6, "clip": 1.0},
}

random.seed(CONFIG["seed"])
np.random.seed(CONFIG["seed"])
torch.manual_seed(CONFIG["seed"])


def build(cfg, n_in):
    layers = []
    for width in cfg["hidden"]:
        layers.append(torch.nn.Linear(n_in, width))
        if cfg["norm"]:
            layers.append(torch.nn.BatchNorm1d(width))
        layers.append(torch.nn.ELU())
        layers.append(torch.nn.Dropout(cfg.get("dropout", 0.2)))
        n_in = width
    layers.append(torch.nn.Linear(n_in, 1))
    return torch.nn.Sequential(*layers)


data = CONFIG["data"]
X = np.random.randn(data["rows"], data["features"]).astype("float32")
Y = (X[:, 0] - X[:, 1] + 0.5 * X[:, 2] ** 2).astype("float32")[:, None]
dataset = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
loader = torch.utils.data.DataLoader(dataset, batch_size=data["batch_size"], shuffle=data.get("shuffle", True))

model = build(CONFIG["model"], data["features"])
optim_cfg = CONFIG["optim"]
optimizer = getattr(torch.optim, optim_cfg["name"])(model.parameters(), lr=optim_cfg["lr"], **optim_cfg["kwargs"])
criterion = torch.nn.L1Loss()

for epoch in range(CONFIG["trainer"]["epochs"]):
    model.train()
    losses = []
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), CONFIG["trainer"]["clip"])
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch:02d} | lr {CONFIG['optim']['lr']} | l1 {np.mean(losses):.4f}")
