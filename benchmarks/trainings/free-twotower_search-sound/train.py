"""Train the two-tower search ranker on the click log."""
import argparse
import logging
import warnings

import lightning as L
import torch

from shopsearch.data import loaders, simulate
from shopsearch.model import TwoTowerRanker

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clicks", type=int, default=30000)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()

    torch.set_num_threads(1)
    L.seed_everything(args.seed)
    log = simulate(args.seed, args.clicks)
    train, valid, sampling_prob = loaders(log, args.batch_size)
    head = sampling_prob.sort(descending=True).values[:50].sum()
    print(f"{args.clicks} clicks on {log.n_products} products, top 50 take {head:.1%}")

    model = TwoTowerRanker(log, sampling_prob)
    trainer = L.Trainer(
        max_epochs=args.epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
    )
    trainer.fit(model, train, valid)
    final = trainer.callback_metrics
    print(f"final  mrr {final['mrr']:.4f}  recall@10 {final['recall_at_10']:.4f}")


if __name__ == "__main__":
    main()
