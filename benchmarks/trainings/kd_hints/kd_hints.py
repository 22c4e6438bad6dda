"""Distillation with feature hints: frozen teacher in eval mode, temperature squared, a projection for the hidden layer."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class Mlp(nn.Module):
    def __init__(self, n_in, width, depth, n_out, dropout):
        super().__init__()
        self.first = nn.Linear(n_in, width)
        self.hidden = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(width, n_out)

    def forward(self, x, with_features=False):
        h = F.gelu(self.first(x))
        for layer in self.hidden:
            h = self.drop(F.gelu(layer(h)))
        logits = self.head(h)
        return (logits, h) if with_features else logits


def data(seed=0):
    x, y = make_classification(
        n_samples=4000, n_features=30, n_informative=12, n_redundant=6, n_classes=8, n_clusters_per_class=2,
        class_sep=1.6, flip_y=0.02, random_state=seed,
    )
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, random_state=seed, stratify=y)
    mean, std = x_train.mean(0), x_train.std(0)
    tensors = [torch.tensor((a - mean) / std, dtype=torch.float32) for a in (x_train, x_test)]
    return tensors[0], torch.tensor(y_train), tensors[1], torch.tensor(y_test)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def train(model, loader, epochs, loss_of, parameters, lr):
    optimizer = torch.optim.AdamW(parameters, lr=lr, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, total_steps=epochs * len(loader))
    means = []
    for _ in range(epochs):
        model.train()
        losses = []
        for x, y in loader:
            loss = loss_of(x, y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        means.append(np.mean(losses))
    return means


def main(temperature=4.0, alpha=0.8):
    torch.manual_seed(11)
    x, y, x_test, y_test = data()
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    teacher = Mlp(30, 128, 2, 8, dropout=0.3)
    train(teacher, loader, 10, lambda a, b: F.cross_entropy(teacher(a), b, label_smoothing=0.05), teacher.parameters(), 2e-3)
    teacher.eval().requires_grad_(False)
    print(f"teacher {accuracy(teacher, x_test, y_test):.3f}")

    student, bridge = Mlp(30, 32, 1, 8, dropout=0.0), nn.Linear(32, 128)

    def student_loss(xb, yb):
        logits, features = student(xb, with_features=True)
        with torch.no_grad():
            wanted, wanted_features = teacher(xb, with_features=True)
        soft = F.kl_div(F.log_softmax(logits / temperature, 1), F.log_softmax(wanted / temperature, 1), reduction="batchmean", log_target=True)
        hint = F.mse_loss(bridge(features), wanted_features)
        return alpha * temperature**2 * soft + (1 - alpha) * F.cross_entropy(logits, yb) + 0.1 * hint

    curve = train(student, loader, 12, student_loss, [*student.parameters(), *bridge.parameters()], 5e-3)
    print("student loss by epoch:", [round(float(v), 3) for v in curve])
    print(f"student {accuracy(student, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
