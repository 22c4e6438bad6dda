"""Distil a wide teacher into a small student for gas-sensor recognition."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(88)

N_SENSORS, N_GASES = 24, 12
g = torch.Generator().manual_seed(1)
CENTRES = torch.randn(N_GASES, 3, N_SENSORS, generator=g)


def readings(n):
    """Each gas has three operating points of the sensor array."""
    y = torch.randint(0, N_GASES, (n,))
    mode = torch.randint(0, 3, (n,))
    return 1.1 * CENTRES[y, mode] + torch.randn(n, N_SENSORS), y


class Teacher(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(N_SENSORS, width), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(width, N_GASES),
        )

    def forward(self, x):
        return self.net(x)


class Student(nn.Module):
    def __init__(self, width=32, keep=0.9):
        super().__init__()
        self.fc1 = nn.Linear(N_SENSORS, width)
        self.fc2 = nn.Linear(width, width)
        self.out = nn.Linear(width, N_GASES)
        self.drop = nn.Dropout(keep)

    def forward(self, x):
        x = self.drop(F.relu(self.fc1(x)))
        x = self.drop(F.relu(self.fc2(x)))
        return self.out(x)


def distill_loss(student_logits, teacher_logits, y, temperature=3.0, alpha=0.7):
    soft = F.kl_div(
        F.log_softmax(student_logits / temperature, dim=1),
        F.softmax(teacher_logits / temperature, dim=1),
        reduction="batchmean",
    )
    return alpha * temperature**2 * soft + (1 - alpha) * F.cross_entropy(student_logits, y)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


x_train, y_train = readings(4000)
x_test, y_test = readings(1500)


def batches(size=64):
    return torch.randperm(len(x_train)).split(size)


teacher = Teacher()
opt = torch.optim.Adam(teacher.parameters(), lr=1e-3)
for epoch in range(8):
    teacher.train()
    for idx in batches():
        opt.zero_grad()
        F.cross_entropy(teacher(x_train[idx]), y_train[idx]).backward()
        opt.step()
print(f"teacher test acc {accuracy(teacher, x_test, y_test):.3f}")
teacher.eval().requires_grad_(False)

student = Student()
opt = torch.optim.Adam(student.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=20)
for epoch in range(1, 21):
    student.train()
    total = 0.0
    for idx in batches():
        with torch.no_grad():
            target = teacher(x_train[idx])
        loss = distill_loss(student(x_train[idx]), target, y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    sched.step()
    if epoch % 2 == 0:
        print(f"epoch {epoch:2d} distill loss {total / len(x_train):.4f} student test acc {accuracy(student, x_test, y_test):.3f}")
