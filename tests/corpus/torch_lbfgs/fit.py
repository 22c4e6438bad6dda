"""Full-batch fit with a closure."""
import torch

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)

t = torch.linspace(0, 1, 60)[:, None]
y = torch.where(t < 0.5, t, 1 - t) + 0.01 * torch.randn_like(t)

model = torch.nn.Sequential()
model.add_module("first", torch.nn.Linear(1, 12))
model.add_module("bend", torch.nn.Softplus())
model.add_module("last", torch.nn.Linear(12, 1))

optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=8, history_size=10, line_search_fn="strong_wolfe")
huber = torch.nn.HuberLoss(delta=0.1)

for iteration in range(12):

    def closure():
        optimizer.zero_grad()
        objective = huber(model(t), y)
        objective.backward()
        return objective

    value = optimizer.step(closure)

with torch.no_grad():
    print(f"rmse {(model(t) - y).square().mean().sqrt().item():.6f}")
