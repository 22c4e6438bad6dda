"""Tiny GPT-2 on clockwork strings: a start symbol and a stride, then modular counting."""
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

MOD = 23
STRIDES = (2, 3, 5, 7)
LENGTH = 20
VOCAB = MOD + len(STRIDES)


def clockwork(rng):
    s = rng.integers(len(STRIDES))
    start = rng.integers(MOD)
    body = (start + STRIDES[s] * np.arange(LENGTH - 1)) % MOD
    return np.concatenate([[MOD + s], body])


class ClockDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = torch.tensor(np.stack([clockwork(rng) for _ in range(n)]), dtype=torch.long)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids = self.rows[i]
        return {"input_ids": ids[:-1], "labels": ids[1:]}


@torch.no_grad()
def continuation_accuracy(model, n=200, prompt_len=4, steps=8):
    model.eval()
    rng = np.random.default_rng(99)
    rows = torch.tensor(np.stack([clockwork(rng) for _ in range(n)]))
    ids = rows[:, :prompt_len]
    for _ in range(steps):
        nxt = model(input_ids=ids).logits[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, nxt], dim=1)
    target = rows[:, prompt_len:prompt_len + steps]
    return (ids[:, prompt_len:] == target).float().mean().item()


def main():
    set_seed(5)
    config = GPT2Config(
        vocab_size=VOCAB, n_positions=LENGTH, n_embd=48, n_layer=2, n_head=4,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        bos_token_id=MOD, eos_token_id=MOD,
    )
    model = GPT2LMHeadModel(config)
    args = TrainingArguments(
        output_dir="/tmp/clockwork_gpt",
        num_train_epochs=6,
        per_device_train_batch_size=48,
        per_device_eval_batch_size=100,
        learning_rate=4e-3,
        lr_scheduler_type="cosine",
        warmup_steps=20,
        weight_decay=0.01,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=ClockDataset(2000, 1), eval_dataset=ClockDataset(200, 2))
    trainer.train()
    print(f"greedy continuation accuracy: {continuation_accuracy(model):.3f}")


if __name__ == "__main__":
    main()
