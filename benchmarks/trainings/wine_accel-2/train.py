import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

CONFIG = dict(lr=0.05, num_epochs=12, batch_size=64, seed=2024, hidden=96, lr_step=4, lr_gamma=0.3)


def get_dataloaders(batch_size):
    X, y = make_classification(
        n_samples=5000, n_features=24, n_informative=12, n_redundant=4, n_classes=6,
        n_clusters_per_class=3, class_sep=1.4, random_state=CONFIG["seed"])
    X_train, X_eval, y_train, y_eval = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X_train)

    def dataset(a, b):
        return TensorDataset(torch.tensor(scaler.transform(a), dtype=torch.float32), torch.tensor(b))

    train = DataLoader(dataset(X_train, y_train), shuffle=True, batch_size=batch_size, drop_last=True)
    evaluation = DataLoader(dataset(X_eval, y_eval), shuffle=False, batch_size=256)
    return train, evaluation


class MLP(nn.Module):
    def __init__(self, n_in, n_out, hidden):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, hidden),
            nn.LayerNorm(hidden),
            nn.GELU(),
            nn.Linear(hidden, hidden),
            nn.LayerNorm(hidden),
            nn.GELU(),
            nn.Linear(hidden, n_out),
        )

    def forward(self, features, labels=None):
        logits = self.net(features)
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return loss, logits


def training_function(config):
    accelerator = Accelerator(cpu=True)
    set_seed(config["seed"])
    train_dataloader, eval_dataloader = get_dataloaders(config["batch_size"])
    model = MLP(24, 6, config["hidden"])
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    lr_scheduler = StepLR(optimizer, step_size=config["lr_step"], gamma=config["lr_gamma"])

    model, optimizer, train_dataloader, eval_dataloader, lr_scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, eval_dataloader, lr_scheduler
    )

    for epoch in range(config["num_epochs"]):
        model.train()
        total_loss = 0.0
        for features, labels in train_dataloader:
            with accelerator.accumulate(model):
                loss, _ = model(features, labels)
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
                lr_scheduler.step()
                optimizer.zero_grad()
            total_loss += loss.detach().item()

        model.eval()
        correct = seen = 0
        for features, labels in eval_dataloader:
            with torch.no_grad():
                _, logits = model(features)
            predictions, references = accelerator.gather_for_metrics((logits.argmax(dim=-1), labels))
            correct += (predictions == references).sum().item()
            seen += references.shape[0]
        accelerator.print(
            f"epoch {epoch}: train_loss={total_loss / len(train_dataloader):.4f} eval_accuracy={correct / seen:.4f}"
        )
    accelerator.end_training()


if __name__ == "__main__":
    training_function(CONFIG)
