"""Train a tiny GPT-2 from scratch on sequences of a noisy symbol chain, with the HF Trainer."""
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

VOCAB = 32
LENGTH = 33
JUMP = 0.12


def chain_rule(seed=99):
    g = np.random.default_rng(seed)
    return np.stack([g.permutation(VOCAB) for _ in range(2)])


RULE = chain_rule()


def next_symbol(prev2, prev1):
    return RULE[prev2 % 2, prev1]


class ChainDataset(Dataset):
    def __init__(self, size, seed):
        g = np.random.default_rng(seed)
        rows = np.zeros((size, LENGTH), dtype=np.int64)
        rows[:, :2] = g.integers(0, VOCAB, (size, 2))
        for t in range(2, LENGTH):
            follow = next_symbol(rows[:, t - 2], rows[:, t - 1])
            jump = g.random(size) < JUMP
            rows[:, t] = np.where(jump, g.integers(0, VOCAB, size), follow)
        self.rows = torch.from_numpy(rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        return {"input_ids": row[:-1], "labels": row[1:]}


def continuation_accuracy(model, n=300, seed=7):
    """Does the model continue a clean prompt with the symbol that the rule gives?"""
    g = np.random.default_rng(seed)
    prompt = np.zeros((n, 12), dtype=np.int64)
    prompt[:, :2] = g.integers(0, VOCAB, (n, 2))
    for t in range(2, 12):
        prompt[:, t] = next_symbol(prompt[:, t - 2], prompt[:, t - 1])
    gold = next_symbol(prompt[:, -2], prompt[:, -1])
    model.eval()
    with torch.no_grad():
        logits = model(input_ids=torch.from_numpy(prompt)).logits[:, -1]
    return float((logits.argmax(-1).numpy() == gold).mean())


def main():
    set_seed(42)
    train_ds, eval_ds = ChainDataset(3200, seed=0), ChainDataset(400, seed=1)
    config = GPT2Config(
        vocab_size=VOCAB,
        n_positions=64,
        n_embd=64,
        n_layer=2,
        n_head=2,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(config)
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out,
            num_train_epochs=5,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=100,
            learning_rate=4e-3,
            lr_scheduler_type="cosine",
            warmup_steps=20,
            weight_decay=0.01,
            eval_strategy="epoch",
            save_strategy="no",
            logging_steps=50,
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
            seed=42,
        )
        trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds)
        trainer.train()
        metrics = trainer.evaluate()
    print(f"eval loss {metrics['eval_loss']:.4f}  perplexity {np.exp(metrics['eval_loss']):.2f}")
    print(f"next symbol right after a clean prompt: {continuation_accuracy(model):.2%}")


if __name__ == "__main__":
    main()
