"""Token tagging (which words belong to a date) with a small DistilBERT; label smoothing, ignored pads, warm-up."""
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (
    DistilBertConfig,
    DistilBertForTokenClassification,
    EarlyStoppingCallback,
    Trainer,
    TrainingArguments,
    set_seed,
)

MONTHS = "january march june july october december".split()
WORDS = "we meet at noon near station bring papers may march come early see report call before after".split()
DAYS = [str(d) for d in range(1, 29)]
VOCAB = ["<pad>", *sorted(set(MONTHS + WORDS + DAYS + ["on", "the", "of"]))]
INDEX = {w: i for i, w in enumerate(VOCAB)}
TAGS = ["O", "DATE"]


def sentence(rng):
    words, tags = [], []
    for _ in range(int(rng.integers(2, 6))):
        if rng.random() < 0.35:
            month, day = rng.choice(MONTHS), rng.choice(DAYS)
            pattern = [day, month] if rng.random() < 0.5 else [month, day]
            words += pattern
            tags += [1, 1]
        else:
            chunk = list(rng.choice(WORDS, size=int(rng.integers(1, 4))))
            words += chunk
            tags += [0] * len(chunk)
        if rng.random() < 0.2:
            words.append(rng.choice(DAYS))
            words.append("of")
            tags += [0, 0]
    return words, tags


class TagDataset(Dataset):
    def __init__(self, size, seed):
        rng = np.random.default_rng(seed)
        self.rows = [sentence(rng) for _ in range(size)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, tags = self.rows[i]
        return {"input_ids": [INDEX[w] for w in words], "labels": tags}


def pad_batch(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    labels = torch.full((len(rows), width), -100)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    for i, r in enumerate(rows):
        n = len(r["input_ids"])
        ids[i, :n] = torch.tensor(r["input_ids"])
        labels[i, :n] = torch.tensor(r["labels"])
        mask[i, :n] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def token_scores(pred):
    guess = pred.predictions.argmax(-1)
    keep = pred.label_ids != -100
    inside = keep & (pred.label_ids > 0)
    return {
        "token_accuracy": float((guess == pred.label_ids)[keep].mean()),
        "date_recall": float((guess == pred.label_ids)[inside].mean()),
    }


def main():
    set_seed(5)
    model = DistilBertForTokenClassification(
        DistilBertConfig(vocab_size=len(VOCAB), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                         max_position_embeddings=48, num_labels=len(TAGS), pad_token_id=0)
    )
    args = TrainingArguments(
        output_dir="hf_tagger_out", num_train_epochs=4, per_device_train_batch_size=16,
        learning_rate=2e-3, warmup_steps=25, lr_scheduler_type="cosine",
        max_grad_norm=1.0, label_smoothing_factor=0.05, weight_decay=0.01, eval_strategy="epoch",
        save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
        metric_for_best_model="token_accuracy", logging_steps=40, report_to="none", use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=TagDataset(800, 0), eval_dataset=TagDataset(100, 1),
        data_collator=pad_batch, compute_metrics=token_scores,
        callbacks=[EarlyStoppingCallback(early_stopping_patience=3)],
    )
    trainer.train()
    held_out = trainer.predict(TagDataset(200, 2))
    print({k: round(v, 4) for k, v in held_out.metrics.items()})


if __name__ == "__main__":
    main()
