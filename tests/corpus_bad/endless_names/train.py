import torch

lr = rate
rate = lr
config = {"lr": config["lr"]} if False else {"lr": 0.1}
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
