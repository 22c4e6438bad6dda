"""Digits with random erasing in a Lightning module."""

import logging
import warnings

import lightning as L
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class RandomErase:
    def __init__(self, size=4):
        self.size = size

    def __call__(self, image):
        image = image.clone()
        y, x = torch.randint(0, 9 - self.size, (2,)).tolist()
        image[:, y:y + self.size, x:x + self.size] = 0
        return image


class RandomNoise:
    def __init__(self, std=0.35):
        self.std = std

    def __call__(self, image):
        return image + self.std * torch.randn_like(image)


class DigitImages(Dataset):
    def __init__(self, transforms=()):
        raw = load_digits()
        self.images = torch.tensor(raw.images, dtype=torch.float32).unsqueeze(1) / 16
        self.labels = torch.tensor(raw.target)
        self.transforms = list(transforms)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index]
        for transform in self.transforms:
            image = transform(image)
        return image, self.labels[index]


class Classifier(L.LightningModule):
    def __init__(self, lr=2e-3):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        images, labels = batch
        return self.criterion(self(images), labels)

    def validation_step(self, batch, batch_idx):
        images, labels = batch
        logits = self(images)
        self.log_dict(
            {"val_loss": self.criterion(logits, labels), "val_acc": (logits.argmax(1) == labels).float().mean()}
        )

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch}: val loss {m['val_loss']:.4f} val acc {m['val_acc']:.4f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


def main():
    L.seed_everything(27, verbose=False)
    dataset = DigitImages(transforms=[RandomErase(), RandomNoise()])
    train_set, val_set = random_split(dataset, [1400, len(dataset) - 1400])
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=128)
    model = Classifier()
    trainer = L.Trainer(
        max_epochs=8, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(model, train_loader, val_loader)
    clean = DigitImages()
    x, y = clean.images[val_set.indices], clean.labels[val_set.indices]
    model.eval()
    with torch.no_grad():
        print(f"the same digits as a user sends them: {(model(x).argmax(1) == y).float().mean():.4f}")


if __name__ == "__main__":
    main()
