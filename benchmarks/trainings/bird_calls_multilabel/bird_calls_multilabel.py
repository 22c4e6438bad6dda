"""Which species sing in a recording: several at once, so a sigmoid per species; the rare ones weigh more."""

import numpy as np
import torch
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)

SPECIES = ["wren", "robin", "blackcap", "chiffchaff", "dunnock", "treecreeper"]

features, present = make_multilabel_classification(
    n_samples=3000, n_features=40, n_classes=len(SPECIES), n_labels=2, length=120, random_state=4
)
features = np.log1p(features).astype(np.float32)
x_train, x_test, y_train, y_test = train_test_split(features, present.astype(np.float32), test_size=0.25, random_state=1)
mean, std = x_train.mean(0), x_train.std(0) + 1e-6
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std


class CallNet(nn.Module):
    """Heavy dropout on purpose: the recordings are few for 40 noisy inputs."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(inputs, 256),
            nn.GELU(),
            nn.Dropout(0.5),
            nn.Linear(256, 128),
            nn.GELU(),
            nn.Dropout(0.5),
            nn.Linear(128, outputs),
        )

    def forward(self, x):
        return self.net(x)

    @torch.no_grad()
    def predict(self, x):
        self.eval()
        return (torch.sigmoid(self(x)) > 0.5).int().numpy()


frequency = torch.from_numpy(y_train.mean(0))
criterion = nn.BCEWithLogitsLoss(pos_weight=((1 - frequency) / frequency).clamp(max=3.0))
model = CallNet(x_train.shape[1], len(SPECIES))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.02)
loader = DataLoader(
    TensorDataset(torch.from_numpy(x_train), torch.from_numpy(y_train)), batch_size=100, shuffle=True
)
test_inputs = torch.from_numpy(x_test)

for epoch in range(15):
    model.train()
    losses = []
    for xb, yb in loader:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        losses.append(loss.item())
    if epoch % 3 == 2:
        macro = f1_score(y_test, model.predict(test_inputs), average="macro")
        print(f"epoch {epoch:2d}  loss {np.mean(losses):.4f}  test macro F1 {macro:.3f}")

everything = f1_score(y_test, np.ones_like(y_test), average="macro")
print("always all species:", round(everything, 3))
print(dict(zip(SPECIES, f1_score(y_test, model.predict(test_inputs), average=None).round(2).tolist())))
