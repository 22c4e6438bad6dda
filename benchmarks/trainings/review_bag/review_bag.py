# Logistic regression on sparse word presence vectors.
# Rows are scaled to unit length and only ~20 of 1500 words are present, so plain SGD wants a rate far
# above 1 here: I swept 0.1, 1, 10, 30 and 10 to 30 were the best on the validation rows.
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(77)
VOCAB, N_TRAIN, N_VAL, N_TEST = 1500, 4000, 500, 1500

polarity = np.where(rng.random(VOCAB) < 0.25, rng.normal(0, 1.6, VOCAB), 0.0)
frequency = 1 / (np.arange(VOCAB) + 8.0)
frequency /= frequency.sum()


def reviews(n):
    x = np.zeros((n, VOCAB), np.float32)
    y = np.zeros(n, np.float32)
    for i in range(n):
        ids = rng.choice(VOCAB, size=rng.integers(12, 30), p=frequency)
        x[i, ids] = 1.0
        score = polarity[np.unique(ids)].sum()
        y[i] = float(rng.random() < 1 / (1 + np.exp(-2 * score)))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return torch.from_numpy(x), torch.from_numpy(y)


torch.manual_seed(3)
xtr, ytr = reviews(N_TRAIN)
xva, yva = reviews(N_VAL)
xte, yte = reviews(N_TEST)

model = nn.Linear(VOCAB, 1)
nn.init.zeros_(model.weight)          # convex problem, zero start is fine
nn.init.zeros_(model.bias)
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=10.0)


def score(x, y):
    with torch.no_grad():
        z = model(x).squeeze(1)
        return loss_fn(z, y).item(), ((z > 0).float() == y).float().mean().item()


best_val, best_state, patience = float("inf"), None, 0
for epoch in range(60):
    order = torch.randperm(N_TRAIN)
    running = 0.0
    for batch in order.split(50):
        optimizer.zero_grad()
        loss = loss_fn(model(xtr[batch]).squeeze(1), ytr[batch])
        loss.backward()
        optimizer.step()
        running += loss.item() * len(batch)
    for group in optimizer.param_groups:
        group["lr"] *= 0.95
    val_loss, val_acc = score(xva, yva)
    if val_loss < best_val:
        best_val, best_state, patience = val_loss, {k: v.clone() for k, v in model.state_dict().items()}, 0
    else:
        patience += 1
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d} train {running / N_TRAIN:.4f} val {val_loss:.4f} acc {val_acc:.3f}")
    if patience >= 8:
        print("stopped after epoch", epoch)
        break

model.load_state_dict(best_state)
test_loss, test_acc = score(xte, yte)
print(f"test loss {test_loss:.4f} accuracy {test_acc:.3f}")
print(f"majority class {max(yte.mean().item(), 1 - yte.mean().item()):.3f}")
