"""Date museum notes to a century with a tiny DistilBERT; notes are sorted by length so that batches need little padding."""

import random

import torch
from transformers import (
    DistilBertConfig,
    DistilBertForSequenceClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)

set_seed(59)
random.seed(59)
CENTURIES, VOCAB, PAD = 4, 90, 0


def write_note(century):
    length = random.randint(5, 24)
    words = [random.randrange(40, VOCAB) for _ in range(length)]
    for _ in range(3):
        words[random.randrange(length)] = 1 + century * 9 + random.randrange(9)
    return words


def make_corpus(n):
    centuries = [random.randrange(CENTURIES) for _ in range(n)]
    return [write_note(century) for century in centuries], centuries


def group_by_length(notes, labels):
    """Long notes last, as a sampler for uneven texts does."""
    notes = sorted(notes, key=len)
    return [{"input_ids": note, "labels": label} for note, label in zip(notes, labels)]


def collate(rows):
    longest = max(len(row["input_ids"]) for row in rows)
    ids = torch.tensor([row["input_ids"] + [PAD] * (longest - len(row["input_ids"])) for row in rows])
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": torch.tensor([r["labels"] for r in rows])}


def metrics(prediction):
    return {"accuracy": (prediction.predictions.argmax(1) == prediction.label_ids).mean().item()}


train_notes, train_labels = make_corpus(1500)
eval_notes, eval_labels = make_corpus(300)
train_rows = group_by_length(train_notes, train_labels)
eval_rows = [{"input_ids": note, "labels": label} for note, label in zip(eval_notes, eval_labels)]

model = DistilBertForSequenceClassification(
    DistilBertConfig(vocab_size=VOCAB, dim=48, n_layers=2, n_heads=4, hidden_dim=96, num_labels=CENTURIES)
)
trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir="out-museum",
        num_train_epochs=5,
        learning_rate=1e-3,
        warmup_steps=30,
        lr_scheduler_type="cosine",
        per_device_train_batch_size=30,
        per_device_eval_batch_size=100,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    ),
    train_dataset=train_rows,
    eval_dataset=eval_rows,
    data_collator=collate,
    compute_metrics=metrics,
)
trainer.train()
print({key: round(value, 4) for key, value in trainer.evaluate().items() if "acc" in key or "loss" in key})
