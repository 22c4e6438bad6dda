"""Full-batch logistic regression of ferry delays, plain SGD, a step size of 2: it is a convex problem."""

import torch
import torch.nn.functional as F

torch.manual_seed(5)
N = 4000
PORTS, SLOTS = 6, 8


def timetable(n):
    port = torch.randint(0, PORTS, (n,))
    slot = torch.randint(0, SLOTS, (n,))
    wind = torch.randn(n)
    load = torch.rand(n)
    weight_port = torch.tensor([0.4, -0.6, 1.2, -1.0, 0.1, 0.8])
    weight_slot = torch.linspace(-1.0, 1.0, SLOTS)
    logit = weight_port[port] + weight_slot[slot] + 1.4 * wind + 2.0 * (load - 0.5) - 0.5
    late = (torch.rand(n) < torch.sigmoid(logit)).float()
    features = torch.cat(
        [F.one_hot(port, PORTS).float(), F.one_hot(slot, SLOTS).float(), wind[:, None], load[:, None] - 0.5], dim=1
    )
    return features, late


def auc(score, label):
    order = score.argsort()
    ranks = torch.empty_like(order, dtype=torch.float)
    ranks[order] = torch.arange(1, len(order) + 1, dtype=torch.float)
    positive = label == 1
    n_pos, n_neg = positive.sum(), (~positive).sum()
    return ((ranks[positive].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)).item()


class Logistic(torch.nn.Module):
    """Weights start at zero: there is one layer, nothing has to be told apart."""

    def __init__(self, inputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, 1)
        torch.nn.init.zeros_(self.linear.weight)
        torch.nn.init.zeros_(self.linear.bias)

    def forward(self, x):
        return self.linear(x).squeeze(-1)


features, late = timetable(N)
train_x, train_y = features[:3000], late[:3000]
test_x, test_y = features[3000:], late[3000:]

model = Logistic(features.shape[1])
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)

for step in range(1, 201):
    optimizer.zero_grad()
    # All rows in every step: the data are small, and the gradient is exact.
    loss = F.binary_cross_entropy_with_logits(model(train_x), train_y)
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        with torch.no_grad():
            held_out = model(test_x)
            test_loss = F.binary_cross_entropy_with_logits(held_out, test_y).item()
        print(f"step {step:3d} loss {loss.item():.4f} test loss {test_loss:.4f} AUC {auc(held_out, test_y):.3f}")

base = test_y.mean()
entropy = -(base * base.log() + (1 - base) * (1 - base).log()).item()
print(f"without inputs: {entropy:.4f}; weight of wind {model.linear.weight[0, -2].item():.2f} (made with 1.4)")
