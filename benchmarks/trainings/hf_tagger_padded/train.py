"""Bracket-depth tagging with a tiny BERT trained from scratch by the Hugging Face Trainer."""
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForTokenClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)

set_seed(21)
PAD, CLS, OPEN, CLOSE = 0, 1, 2, 3
LETTERS = list(range(4, 14))
MAX_DEPTH = 3


class BracketData(Dataset):
    """Each token is labelled with the depth of brackets at it; [CLS] is not scored."""

    def __init__(self, n, seed):
        r = random.Random(seed)
        self.rows = [self._row(r) for _ in range(n)]

    @staticmethod
    def _row(r):
        length = r.randint(6, 22)
        toks, labels, depth = [CLS], [-100], 0
        for _ in range(length):
            u = r.random()
            if u < 0.28 and depth < MAX_DEPTH:
                toks.append(OPEN)
                depth += 1
                labels.append(depth)
            elif u < 0.5 and depth > 0:
                toks.append(CLOSE)
                labels.append(depth)
                depth -= 1
            else:
                toks.append(r.choice(LETTERS))
                labels.append(depth)
        return {"input_ids": toks, "labels": labels}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = torch.full((len(rows), width), PAD)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    labels = torch.full((len(rows), width), -100)
    for i, r in enumerate(rows):
        n = len(r["input_ids"])
        ids[i, :n] = torch.tensor(r["input_ids"])
        mask[i, :n] = 1
        labels[i, :n] = torch.tensor(r["labels"])
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def metrics(pred):
    guess = pred.predictions.argmax(-1)
    keep = pred.label_ids != -100
    hit = (guess == pred.label_ids) & keep
    deep = keep & (pred.label_ids >= 2)
    rows_right = ((guess == pred.label_ids) | ~keep).all(axis=1)
    return {
        "token_accuracy": hit.sum() / keep.sum(),
        "deep_accuracy": (hit & deep).sum() / deep.sum(),
        "whole_rows": rows_right.mean(),
    }


def main():
    train, dev = BracketData(1600, 1), BracketData(300, 2)
    counts = np.bincount([l for r in dev.rows for l in r["labels"] if l >= 0])
    print("majority baseline:", round(counts.max() / counts.sum(), 3))

    config = BertConfig(
        vocab_size=14,
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=MAX_DEPTH + 1,
        pad_token_id=PAD,
    )
    model = BertForTokenClassification(config)
    args = TrainingArguments(
        output_dir="/tmp/bracket_tagger",
        num_train_epochs=12,
        per_device_train_batch_size=16,
        per_device_eval_batch_size=100,
        gradient_accumulation_steps=2,
        learning_rate=4e-3,
        warmup_steps=60,
        lr_scheduler_type="cosine",
        label_smoothing_factor=0.05,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        seed=21,
    )
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=train,
        eval_dataset=dev,
        data_collator=collate,
        compute_metrics=metrics,
    )
    trainer.train()
    print("final:", {k: round(float(v), 4) for k, v in trainer.evaluate().items() if "accuracy" in k or "rows" in k or k == "eval_loss"})


if __name__ == "__main__":
    main()
