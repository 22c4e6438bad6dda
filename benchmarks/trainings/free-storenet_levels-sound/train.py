"""Train the order-up-to network for the store network: python train.py [config.yaml] [key=value ...]"""
import logging
import pathlib
import sys
import time
import warnings

import lightning as L
import torch
import yaml

from storenet.data import loaders
from storenet.policy import OrderUpTo

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def read_config(argv):
    path = pathlib.Path(__file__).with_name("config.yaml")
    if argv and argv[0].endswith(".yaml"):
        path, argv = pathlib.Path(argv[0]), argv[1:]
    cfg = yaml.safe_load(path.read_text())
    for item in argv:
        key, value = item.split("=", 1)
        if key not in cfg:
            raise KeyError(key)
        cfg[key] = yaml.safe_load(value)
    return cfg


def main():
    cfg = read_config(sys.argv[1:])
    torch.set_num_threads(1)
    L.seed_everything(cfg["seed"], verbose=False)
    train_loader, val_loader = loaders(cfg)
    model = OrderUpTo(lead_time=cfg["lead_time"], hidden=cfg["hidden"], lr=cfg["lr"])
    trainer = L.Trainer(
        max_epochs=cfg["epochs"], accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0, gradient_clip_val=1.0,
    )
    start = time.time()
    trainer.validate(model, val_loader, verbose=False)
    trainer.fit(model, train_loader, val_loader)
    last = model.history[-1]
    print(f"done in {time.time() - start:.1f}s: cost per period {last['cost']:.4f} (in mean demands), "
          f"service {last['service']:.3f}")


if __name__ == "__main__":
    main()
