"""Mean teacher: 30 labelled points of two moons and 1500 unlabelled ones; the teacher is an average of the student."""

import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import make_moons
from torch import nn

torch.manual_seed(70)
points, side = make_moons(2500, noise=0.12, random_state=70)
points = torch.tensor(points, dtype=torch.float32)
points = (points - points.mean(0)) / points.std(0)
side = torch.tensor(side)
labelled = torch.cat([torch.where(side[:200] == c)[0][:15] for c in (0, 1)])
unlabelled, test = torch.arange(200, 1700), torch.arange(1700, 2500)


def make_model():
    return nn.Sequential(
        nn.Linear(2, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2)
    )


def jitter(x):
    return x + 0.12 * torch.randn_like(x)


def ramp(step, full=300, top=8.0):
    """Weight of the consistency term; near 0 at first, while the teacher knows nothing."""
    share = min(1.0, step / full)
    return top * float(torch.exp(torch.tensor(-5.0 * (1 - share) ** 2)))


@torch.no_grad()
def accuracy(model, rows):
    was = model.training
    model.eval()
    right = (model(points[rows]).argmax(1) == side[rows]).float().mean().item()
    model.train(was)
    return right


student = make_model()
teacher = copy.deepcopy(student)
teacher.requires_grad_(False)
teacher.eval()
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)

for step in range(1, 801):
    student.train()
    rows = unlabelled[torch.randint(0, len(unlabelled), (100,))]
    supervised = F.cross_entropy(student(jitter(points[labelled])), side[labelled])
    with torch.no_grad():
        wanted = teacher(jitter(points[rows])).softmax(1)
    consistency = F.mse_loss(student(jitter(points[rows])).softmax(1), wanted)
    loss = supervised + ramp(step) * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        decay = min(0.99, 1 - 1 / (step + 1))
        for slow, fast in zip(teacher.parameters(), student.parameters()):
            slow.lerp_(fast, 1 - decay)
    if step % 160 == 0:
        # Accuracy on the labelled rows is on training data, and is shown to see that they are kept.
        print(
            f"step {step:3d} loss {loss.item():.4f} student {accuracy(student, test):.3f} "
            f"teacher {accuracy(teacher, test):.3f} labelled {accuracy(teacher, labelled):.3f}"
        )
