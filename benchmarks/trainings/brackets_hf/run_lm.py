"""Causal LM on nested brackets with counters (tiny Llama-like GPT-2) through the HF Trainer."""
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

OPEN, CLOSE = "([{<", ")]}>"
TOK = {c: i + 1 for i, c in enumerate(OPEN + CLOSE)}
LEN = 24


def balanced(rng):
    out, stack = [], []
    while len(out) + len(stack) < LEN:
        if not stack or (rng.random() < 0.55 and len(stack) < 6):
            k = rng.integers(4)
            stack.append(k)
            out.append(OPEN[k])
        else:
            out.append(CLOSE[stack.pop()])
        if not stack and rng.random() < 0.1 and len(out) > 8:
            break
    out += [CLOSE[k] for k in reversed(stack)]
    return out[:LEN]


class Brackets(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = [balanced(rng) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids = [TOK[c] for c in self.rows[i]]
        return {"input_ids": ids, "labels": ids}


def collate(rows):
    ids = torch.zeros(len(rows), LEN, dtype=torch.long)
    mask = torch.zeros(len(rows), LEN, dtype=torch.long)
    for i, r in enumerate(rows):
        ids[i, :len(r["input_ids"])] = torch.tensor(r["input_ids"])
        mask[i, :len(r["input_ids"])] = 1
    labels = ids.clone()                        # the model shifts them by one itself
    labels[mask == 0] = -100
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


@torch.no_grad()
def closing_accuracy(model, data):
    """When a bracket closes, is it the right kind?"""
    model.eval()
    b = collate([data[i] for i in range(len(data))])
    logits = model(input_ids=b["input_ids"], attention_mask=b["attention_mask"]).logits[:, :-1, 5:9]
    nxt = b["input_ids"][:, 1:]
    at = nxt >= 5
    return (logits.argmax(-1)[at] + 5 == nxt[at]).float().mean().item()


def main():
    set_seed(0)
    train, test = Brackets(1500, 1), Brackets(200, 2)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=9, n_positions=LEN, n_embd=48, n_layer=2, n_head=4,
                                       resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, bos_token_id=0, eos_token_id=0))
    print(f"untrained: right closing bracket {closing_accuracy(model, test):.3f}")
    args = TrainingArguments(tempfile.mkdtemp(), num_train_epochs=5, per_device_train_batch_size=32, learning_rate=4e-3,
                             lr_scheduler_type="linear", warmup_steps=15, weight_decay=0.01, logging_steps=60,
                             save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True)
    Trainer(model=model, args=args, train_dataset=train, data_collator=collate).train()
    print(f"trained: right closing bracket {closing_accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
