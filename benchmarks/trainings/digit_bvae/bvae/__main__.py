import argparse

import torch
from sklearn.datasets import load_digits

from .nets import Decoder, Encoder
from .objective import beta_at, negative_elbo


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--z", type=int, default=8)
    a = ap.parse_args()
    torch.manual_seed(0)
    x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    x = x[torch.randperm(len(x))]
    train, test = x[:1500], x[1500:]
    enc, dec = Encoder(a.z), Decoder(a.z)
    opt = torch.optim.Adamax([*enc.parameters(), *dec.parameters()], lr=4e-3)
    step = 0
    for ep in range(1, a.epochs + 1):
        for xb in train[torch.randperm(len(train))].split(60):
            loss, rec, kl = negative_elbo(enc, dec, xb, beta_at(step, 400))
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
        if ep % 8 == 0:
            print(f"epoch {ep} loss {loss.item():+.2f} rec {rec:+.2f} kl {kl:.2f} pixel sd {dec.log_sd.exp().item():.3f}")
    with torch.no_grad():
        mse = (dec(enc(test).mean).mean - test).pow(2).mean().item()
        const = (train.mean(0) - test).pow(2).mean().item()
        nelbo = negative_elbo(enc, dec, test, 1.0)[0].item()
    print(f"test: reconstruction mse {mse:.4f} (mean image {const:.4f}), -ELBO {nelbo:+.2f}")


if __name__ == "__main__":
    main()
