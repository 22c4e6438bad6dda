import torch
import yaml

cfg = yaml.safe_load(open("config.yaml"))
model = torch.nn.Linear(2, cfg["units"])
optimizer = torch.optim.SGD(model.parameters(), lr=cfg["lr"])
