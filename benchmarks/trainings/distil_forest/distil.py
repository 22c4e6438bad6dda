"""Knowledge distillation: an ensemble of wide nets teaches a 12-unit student from a few labels and many unlabelled rows."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_moons

torch.manual_seed(64)
TEMPERATURE, ALPHA = 3.0, 0.9


def rings(n, seed):
    """Two interleaved moons in the plane, four classes by moon and side, lifted into 10 dimensions."""
    xy, moon = make_moons(n, noise=0.12, random_state=seed)
    label = 2 * moon + (xy[:, 0] > 0.5)
    g = torch.Generator().manual_seed(1)
    lift = torch.randn(2, 10, generator=g)
    x = torch.tensor(xy, dtype=torch.float32) @ lift
    return x + 0.1 * torch.randn(n, 10, generator=torch.Generator().manual_seed(seed)), torch.tensor(label)


def net(width, p=0.0):
    return nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Dropout(p), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))


def accuracy(predict, x, y):
    with torch.no_grad():
        return (predict(x).argmax(-1) == y).float().mean().item()


def fit_supervised(model, x, y, steps, lr=5e-3):
    opt = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=1e-4)
    model.train()
    for _ in range(steps):
        i = torch.randint(len(y), (64,))
        opt.zero_grad()
        F.cross_entropy(model(x[i]), y[i]).backward()
        opt.step()
    return model.eval()


class Ensemble(nn.Module):
    def __init__(self, members):
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, x):
        return torch.stack([m(x).log_softmax(-1) for m in self.members]).logsumexp(0)


class Distiller:
    def __init__(self, teacher, student):
        self.teacher = teacher.eval().requires_grad_(False)
        self.student = student

    def loss(self, x_all, x_lab, y_lab):
        with torch.no_grad():
            soft = F.log_softmax(self.teacher(x_all) / TEMPERATURE, -1)
        log_student = F.log_softmax(self.student(x_all) / TEMPERATURE, -1)
        kd = F.kl_div(log_student, soft, reduction="batchmean", log_target=True) * TEMPERATURE ** 2
        ce = F.cross_entropy(self.student(x_lab), y_lab)
        return ALPHA * kd + (1 - ALPHA) * ce, kd.item(), ce.item()


lab_x, lab_y = rings(1200, seed=2)
test_x, test_y = rings(3000, seed=3)
pool_x, _ = rings(4000, seed=4)

teacher = Ensemble([fit_supervised(net(128, 0.1), lab_x, lab_y, 250) for _ in range(3)])
few_x, few_y = lab_x[:40], lab_y[:40]
alone = fit_supervised(net(12), few_x, few_y, 300)
print(f"teacher {accuracy(teacher, test_x, test_y):.4f}   student on 40 labels only {accuracy(alone, test_x, test_y):.4f}")

student = net(12)
distiller = Distiller(teacher, student)
opt = torch.optim.RMSprop(student.parameters(), lr=4e-3)
EPOCHS = 12
sched = torch.optim.lr_scheduler.PolynomialLR(opt, total_iters=EPOCHS, power=1.0)
for epoch in range(1, EPOCHS + 1):
    student.train()
    kd_sum = 0.0
    batches = torch.randperm(len(pool_x)).split(64)
    for idx in batches:
        i = torch.randint(len(few_y), (16,))
        loss, kd, _ = distiller.loss(pool_x[idx], few_x[i], few_y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        kd_sum += kd
    sched.step()
    student.eval()
    if epoch % 2 == 0:
        print(f"epoch {epoch:2d}  kd {kd_sum / len(batches):.4f}  student test acc {accuracy(student, test_x, test_y):.4f}")
