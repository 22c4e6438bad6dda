"""Predict the turnaround time of ships in a harbour from their call sheet (tonnage, length, containers ...)."""
import hydra
import numpy as np
import torch
import torch.nn as nn
from omegaconf import DictConfig
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def call_sheets(n, noise, rng):
    tonnage = rng.lognormal(9.5, 0.7, n)
    length = 40 * (tonnage / 1000) ** 0.4 * rng.uniform(0.9, 1.1, n)
    containers = rng.poisson(tonnage / 25)
    cranes = rng.integers(1, 6, n)
    wind = rng.weibull(2.0, n) * 7
    hazardous = rng.integers(0, 2, n)
    hours = 4 + 8 * np.sqrt(containers / 400) / np.sqrt(cranes) + 0.4 * wind + 3 * hazardous * (wind > 8)
    hours *= 1 + noise * rng.standard_normal(n)
    return np.stack([tonnage, length, containers, cranes, wind, hazardous], axis=1), hours


def build_mlp(d_in, hidden):
    layers, width = [], d_in
    for h in hidden:
        layers += [nn.Linear(width, h), nn.ReLU()]
        width = h
    return nn.Sequential(*layers, nn.Linear(width, 1))


def prepare(cfg):
    rng = np.random.default_rng(cfg.seed)
    X, y = call_sheets(cfg.data.n, cfg.data.noise, rng)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=cfg.data.test_fraction, random_state=cfg.seed)
    scaler = StandardScaler()
    scaler.fit_transform(X_train)
    target = StandardScaler().fit(y_train[:, None])
    as_tensor = lambda a: torch.tensor(a, dtype=torch.float32)
    train = as_tensor(X_train), as_tensor(target.transform(y_train[:, None])[:, 0])
    test = as_tensor(X_test), y_test
    return train, test, target


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    torch.manual_seed(cfg.seed)
    (x, y), (x_test, y_test), target = prepare(cfg)
    model = build_mlp(x.shape[1], cfg.model.hidden)
    if cfg.optim.name == "sgd":
        opt = torch.optim.SGD(model.parameters(), lr=cfg.optim.lr, momentum=cfg.optim.momentum)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=cfg.optim.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg.train.epochs)
    loss_fn = nn.HuberLoss()

    for epoch in range(cfg.train.epochs):
        model.train()
        losses = []
        for idx in torch.randperm(len(x)).split(cfg.train.batch_size):
            loss = loss_fn(model(x[idx]).squeeze(1), y[idx])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            losses.append(loss.item())
        sched.step()
        model.eval()
        with torch.no_grad():
            pred = target.inverse_transform(model(x_test).numpy())[:, 0]
        mae = np.abs(pred - y_test).mean()
        if epoch % 3 == 0 or epoch == cfg.train.epochs - 1:
            print(f"epoch {epoch:2d} huber {np.mean(losses):.4f} test mae {mae:.3f} h  r2 {r2_score(y_test, pred):.3f}")


if __name__ == "__main__":
    main()
