"""Distil a wide teacher into a narrow student on two-dimensional checkerboard data with noisy labels.
The student never sees a label: it learns from softened teacher outputs on fresh unlabelled points."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(12)
CELLS = 4


def points(n):
    return torch.rand(n, 2) * 2 - 1


def true_class(x):
    cell = ((x + 1) / 2 * CELLS).floor().clamp(0, CELLS - 1).long()
    return (cell[:, 0] + 2 * cell[:, 1]) % 3


def fourier(x):
    f = torch.tensor([1.0, 2.0, 4.0]) * torch.pi
    z = x[:, :, None] * f
    return torch.cat([x, z.sin().flatten(1), z.cos().flatten(1)], 1)


class MLP(nn.Module):
    def __init__(self, width, depth, p=0.0):
        super().__init__()
        layers, d = [], 14
        for _ in range(depth):
            layers += [nn.Linear(d, width), nn.SiLU(), nn.Dropout(p)]
            d = width
        self.net = nn.Sequential(*layers, nn.Linear(d, 3))

    def forward(self, x):
        return self.net(fourier(x))


x_lab = points(4000)
y_clean = true_class(x_lab)
noisy = torch.rand(4000) < 0.15
y_lab = torch.where(noisy, torch.randint(0, 3, (4000,)), y_clean)
x_test = points(3000)
y_test = true_class(x_test)


def test_accuracy(net):
    was = net.training
    net.eval()
    with torch.no_grad():
        acc = (net(x_test).argmax(1) == y_test).float().mean().item()
    net.train(was)
    return acc


def fit_teacher(epochs=16):
    teacher = MLP(160, 3, p=0.1)
    opt = torch.optim.AdamW(teacher.parameters(), lr=2e-3, weight_decay=0.05)
    for ep in range(1, epochs + 1):
        teacher.train()
        total = 0.0
        for idx in torch.randperm(len(x_lab)).split(64):
            loss = F.cross_entropy(teacher(x_lab[idx]), y_lab[idx], label_smoothing=0.05)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if ep % 4 == 0:
            print(f"teacher epoch {ep:2d} loss {total / len(x_lab):.4f} test acc {test_accuracy(teacher):.4f}")
    return teacher.eval().requires_grad_(False)


def distil(teacher, steps=1800, T=3.0):
    student = MLP(24, 2)
    opt = torch.optim.SGD(student.parameters(), lr=0.2, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    avg = 0.0
    for step in range(1, steps + 1):
        x = points(128)
        with torch.no_grad():
            soft = F.log_softmax(teacher(x) / T, dim=1)
        loss = T * T * F.kl_div(F.log_softmax(student(x) / T, dim=1), soft, log_target=True, reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 2.0)
        opt.step()
        sched.step()
        avg += loss.item()
        if step % 300 == 0:
            print(f"student step {step:4d} KL {avg / 300:.4f} test acc {test_accuracy(student):.4f}")
            avg = 0.0
    return student


share = torch.bincount(y_test).max().item() / len(y_test)
print(f"majority class {share:.3f}")
teacher = fit_teacher()
student = distil(teacher)
size = lambda m: sum(p.numel() for p in m.parameters())
print(f"teacher {size(teacher)} weights: {test_accuracy(teacher):.4f}; student {size(student)} weights: {test_accuracy(student):.4f}")
