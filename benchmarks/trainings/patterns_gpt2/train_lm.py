"""GPT-2 (tiny, from scratch) on symbolic rule sequences with the HF Trainer."""
import math
import tempfile
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


@dataclass
class RunConfig:
    vocab: int = 23
    length: int = 32
    n_train: int = 1500
    n_eval: int = 200
    steps_allowed: tuple = field(default=(2, 3, 5, 7))
    epochs: int = 5
    seed: int = 3


def rule_sequence(cfg, rng):
    """a, a+d, a+2d ... modulo the vocabulary; d changes once in the middle."""
    a = rng.integers(cfg.vocab)
    cut = rng.integers(10, cfg.length - 10)
    d1, d2 = rng.choice(cfg.steps_allowed, 2)
    inc = np.where(np.arange(cfg.length + 1) < cut, d1, d2)
    return (a + np.cumsum(inc)) % cfg.vocab


class RuleData(Dataset):
    def __init__(self, cfg, n, seed):
        rng = np.random.default_rng(seed)
        self.seqs = torch.tensor(np.stack([rule_sequence(cfg, rng) for _ in range(n)]))

    def __len__(self):
        return len(self.seqs)

    def __getitem__(self, i):
        s = self.seqs[i]
        return {"input_ids": s[:-1], "labels": s[1:]}


@torch.no_grad()
def continuation_accuracy(model, data, prompt=28, new=4):
    """Greedy continuation against the true one."""
    model.eval()
    full = data.seqs[:, : prompt + new]
    ids = full[:, :prompt]
    for _ in range(new):
        nxt = model(input_ids=ids).logits[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, nxt], 1)
    return (ids[:, prompt:] == full[:, prompt:]).float().mean().item()


def main():
    cfg = RunConfig()
    set_seed(cfg.seed)
    train, evals = RuleData(cfg, cfg.n_train, 1), RuleData(cfg, cfg.n_eval, 2)
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=cfg.vocab, n_positions=cfg.length, n_embd=64, n_layer=2, n_head=4,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0))
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=cfg.epochs, per_device_train_batch_size=32,
        per_device_eval_batch_size=100, learning_rate=3e-3, lr_scheduler_type="cosine", warmup_steps=20,
        logging_steps=50, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True, seed=cfg.seed)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=evals)
    trainer.train()
    loss = trainer.evaluate()["eval_loss"]
    print(f"eval loss {loss:.3f} perplexity {math.exp(loss):.2f}")
    print(f"greedy continuation accuracy {continuation_accuracy(model, evals):.3f}")


if __name__ == "__main__":
    main()
