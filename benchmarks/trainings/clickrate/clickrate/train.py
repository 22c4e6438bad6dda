"""python -m clickrate.train"""

import copy
import logging

import torch
from sklearn.metrics import roc_auc_score
from torch import nn

from .data import loaders
from .model import ClickModel

logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
log = logging.getLogger("clickrate")


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        scores = torch.cat([model(x) for x, _ in loader])
    labels = torch.cat([y for _, y in loader])
    return roc_auc_score(labels.numpy(), scores.numpy())


def train(epochs=8, lr=2e-3, patience=3):
    torch.manual_seed(0)
    train_loader, valid_loader, ratio = loaders(batch_size=128)
    model = ClickModel()
    optimizer = torch.optim.AdamW(model.groups(lr))
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(ratio))
    best, best_state, waited = 0.0, None, 0
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for ids, click in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(ids), click)
            loss.backward()
            optimizer.step()
            total += loss.item()
        auc = evaluate(model, valid_loader)
        log.info("epoch %d loss %.4f valid auc %.4f", epoch, total / len(train_loader), auc)
        if auc > best:
            best, best_state, waited = auc, copy.deepcopy(model.state_dict()), 0
        else:
            waited += 1
            if waited >= patience:
                break
    model.load_state_dict(best_state)
    log.info("best valid auc %.4f", evaluate(model, valid_loader))


if __name__ == "__main__":
    train()
