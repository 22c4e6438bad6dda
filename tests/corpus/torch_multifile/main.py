import torch
from torch import nn, optim
from torch.optim.lr_scheduler import StepLR

import config as C
from data import get_loaders
from engine import evaluate, train
from model import WaveNet


def main():
    torch.manual_seed(C.SEED)
    train_loader, test_loader = get_loaders()
    model = WaveNet()
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
    optimizer = optim.SGD(model.parameters(), lr=C.LR, momentum=C.MOMENTUM)
    scheduler = StepLR(optimizer, step_size=C.STEP_SIZE, gamma=C.GAMMA)

    for epoch in range(C.EPOCHS):
        loss = train(model, train_loader, loss_fn, optimizer)
        scheduler.step()
        print(f"[{epoch + 1}/{C.EPOCHS}] loss={loss:.4f} test_acc={evaluate(model, test_loader):.4f}")


if __name__ == "__main__":
    main()
