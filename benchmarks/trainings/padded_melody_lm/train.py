"""Tiny GPT-2 on made-up melodies of different lengths, trained with the HF Trainer."""
import math

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(13)

PAD, BOS, EOS = 0, 1, 2
SCALE = [0, 2, 4, 5, 7, 9, 11]
OFFSET = 3
VOCAB = OFFSET + 24


def compose(rng):
    """A motif in some key, repeated with an upward shift of one scale step."""
    key = rng.integers(0, 12)
    motif = rng.integers(0, 5, size=rng.integers(3, 6))
    notes = []
    for shift in range(rng.integers(2, 4)):
        for deg in motif + shift:
            notes.append(OFFSET + (key + SCALE[deg % 7] + 12 * (deg // 7)) % 24)
    return [BOS] + notes + [EOS]


class Melodies(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.songs = [compose(rng) for _ in range(n)]

    def __len__(self):
        return len(self.songs)

    def __getitem__(self, i):
        return {"input_ids": self.songs[i]}


def collate(rows):
    longest = max(len(r["input_ids"]) for r in rows)
    ids = torch.full((len(rows), longest), PAD)
    mask = torch.zeros(len(rows), longest, dtype=torch.long)
    for i, r in enumerate(rows):
        n = len(r["input_ids"])
        ids[i, :n] = torch.tensor(r["input_ids"])
        mask[i, :n] = 1
    labels = ids.masked_fill(mask == 0, -100)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


class Print(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"step {state.global_step}: eval loss {metrics['eval_loss']:.4f} ppl {math.exp(metrics['eval_loss']):.2f}")


config = GPT2Config(
    vocab_size=VOCAB, n_positions=32, n_embd=48, n_layer=2, n_head=4,
    bos_token_id=BOS, eos_token_id=EOS, pad_token_id=PAD,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
)
model = GPT2LMHeadModel(config)

args = TrainingArguments(
    output_dir="/tmp/melody_lm",
    num_train_epochs=5,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=4e-3,
    warmup_steps=30,
    lr_scheduler_type="cosine",
    weight_decay=0.01,
    eval_strategy="epoch",
    save_strategy="no",
    logging_strategy="epoch",
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
    seed=13,
)
valid = Melodies(300, seed=2)
counts = np.bincount(np.concatenate([s[1:] for s in valid.songs]), minlength=VOCAB)
freq = counts[counts > 0] / counts.sum()
print(f"unigram baseline loss {-(freq * np.log(freq)).sum():.4f}")

trainer = Trainer(
    model=model, args=args, data_collator=collate,
    train_dataset=Melodies(2000, seed=1), eval_dataset=valid, callbacks=[Print()],
)
trainer.train()
