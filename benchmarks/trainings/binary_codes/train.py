# Learn 16-bit codes for digits with a hard sign in the forward pass and a clipped identity as its derivative.
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(10)
BITS = 16


class SignSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= 1.5)


class Hasher(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, BITS))
        self.readout = nn.Linear(BITS, 10)

    def codes(self, x):
        return SignSTE.apply(self.features(x))

    def forward(self, x):
        bits = self.codes(x)
        return bits, self.readout(bits)


def retrieval_map(query, q_labels, base, b_labels, top=50):
    hamming = (BITS - query @ base.t()) / 2
    ranked = b_labels[hamming.argsort(dim=1, stable=True)[:, :top]]
    hit = (ranked == q_labels[:, None]).float()
    precision = hit.cumsum(1) / torch.arange(1, top + 1)
    return ((precision * hit).sum(1) / hit.sum(1).clamp(min=1)).mean().item()


images, labels = load_digits(return_X_y=True)
x_tr, x_te, y_tr, y_te = train_test_split(images / 16.0, labels, test_size=0.3, random_state=10, stratify=labels)
x_tr, x_te = torch.tensor(x_tr).float(), torch.tensor(x_te).float()
y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)

model = Hasher()
optimizer = torch.optim.SGD(
    [{"params": model.features.parameters(), "lr": 0.5}, {"params": model.readout.parameters(), "lr": 0.05}],
    momentum=0.9, nesterov=True,
)
EPOCHS = 30
steps = EPOCHS * ((len(x_tr) + 63) // 64)
warm = torch.optim.lr_scheduler.LinearLR(optimizer, 0.02, total_iters=60)
cool = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps - 60)
schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, cool], milestones=[60])

with torch.no_grad():
    print(f"random codes: mAP@50 {retrieval_map(model.codes(x_te), y_te, model.codes(x_tr), y_tr):.3f}")
for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for idx in torch.randperm(len(x_tr)).split(64):
        bits, logits = model(x_tr[idx])
        # bits should be balanced and not repeat each other
        gram = bits.t() @ bits / len(idx) - torch.eye(BITS)
        loss = F.cross_entropy(logits, y_tr[idx]) + 0.02 * gram.square().mean() + 0.02 * bits.mean(0).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        running += loss.item() * len(idx)
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            bits_te, logits_te = model(x_te)
            acc = (logits_te.argmax(1) == y_te).float().mean()
            score = retrieval_map(bits_te, y_te, model.codes(x_tr), y_tr)
        print(f"epoch {epoch + 1:2d} loss {running / len(x_tr):.4f} test acc {acc:.3f} mAP@50 {score:.3f}")
