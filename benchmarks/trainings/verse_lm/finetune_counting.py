"""Train a tiny GPT-2 from scratch on a toy "verse" language with the HF Trainer.

Every verse counts upwards by a fixed stride modulo 29, with a marker in front.
"""
import os

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

VOCAB = 40
MOD = 29
LENGTH = 24
STRIDE_BASE = 30


def sample_verse(rng):
    stride = int(rng.integers(1, 8))
    start = int(rng.integers(0, MOD))
    body = [(start + stride * k) % MOD for k in range(LENGTH - 1)]
    return [STRIDE_BASE + stride] + body


class VerseDataset(Dataset):
    """Next-token pairs for language modelling."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.verses = [torch.tensor(sample_verse(rng)) for _ in range(n)]

    def __len__(self):
        return len(self.verses)

    def __getitem__(self, idx):
        verse = self.verses[idx]
        return {"input_ids": verse[:-1], "labels": verse[1:]}


def continuation_accuracy(model, dataset, n=100, prompt_len=5):
    """Greedy continuation of a prompt, compared with the true verse."""
    model.eval()
    verses = torch.stack(dataset.verses[:n])
    ids = verses[:, :prompt_len]
    with torch.no_grad():
        while ids.shape[1] < verses.shape[1]:
            nxt = model(input_ids=ids).logits[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, nxt], dim=1)
    return (ids[:, prompt_len:] == verses[:, prompt_len:]).float().mean().item()


def build_model():
    config = GPT2Config(
        vocab_size=VOCAB,
        n_positions=LENGTH + 8,
        n_embd=64,
        n_layer=2,
        n_head=4,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
    )
    return GPT2LMHeadModel(config)


def main():
    set_seed(3)
    train_ds = VerseDataset(2000, seed=0)
    eval_ds = VerseDataset(300, seed=1)
    model = build_model()
    args = TrainingArguments(
        output_dir="out_verse",
        num_train_epochs=6,
        per_device_train_batch_size=64,
        per_device_eval_batch_size=100,
        learning_rate=2e-3,
        warmup_steps=30,
        lr_scheduler_type="cosine",
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=50,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds)
    trainer.train()
    print("eval loss", round(trainer.evaluate()["eval_loss"], 4))
    print("continuation accuracy", round(continuation_accuracy(model, eval_ds), 4))


if __name__ == "__main__":
    main()
