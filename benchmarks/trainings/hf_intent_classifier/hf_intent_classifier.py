"""Intent classification with a small BERT trained from scratch."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

INTENTS = ["greet", "order", "cancel", "refund"]
PAD, CLS, SEP = 0, 1, 2
KEYWORDS = {0: range(10, 16), 1: range(16, 22), 2: range(22, 28), 3: range(28, 34)}


def sample_utterance(rng):
    label = int(rng.integers(len(INTENTS)))
    length = int(rng.integers(6, 14))
    words = rng.integers(40, 100, size=length)
    where = rng.choice(length, size=2, replace=False)
    words[where] = rng.choice(list(KEYWORDS[label]), size=2)
    return [CLS, *words.tolist(), SEP], label


class IntentDataset(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = [sample_utterance(rng) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        ids, label = self.rows[index]
        return {"input_ids": ids, "label": label}


def collate(batch):
    longest = max(len(b["input_ids"]) for b in batch)
    ids = torch.full((len(batch), longest), PAD)
    mask = torch.zeros(len(batch), longest, dtype=torch.long)
    for row, item in enumerate(batch):
        n = len(item["input_ids"])
        ids[row, :n] = torch.tensor(item["input_ids"])
        mask[row, :n] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([b["label"] for b in batch])}


def compute_metrics(pred):
    guess = pred.predictions.argmax(axis=-1)
    return {"accuracy": float((guess == pred.label_ids).mean())}


def build_model():
    config = BertConfig(
        vocab_size=100, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=32, num_labels=len(INTENTS),
        pad_token_id=PAD, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.0,
    )
    return BertForSequenceClassification(config)


def main():
    set_seed(2024)
    args = TrainingArguments(
        output_dir="out_intents",
        learning_rate=5e-2,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        num_train_epochs=5,
        weight_decay=0.01,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        seed=2024,
    )
    trainer = Trainer(
        model=build_model(),
        args=args,
        train_dataset=IntentDataset(2000, seed=1),
        eval_dataset=IntentDataset(400, seed=2),
        data_collator=collate,
        compute_metrics=compute_metrics,
    )
    trainer.train()
    print({k: round(v, 4) for k, v in trainer.evaluate().items() if k.startswith("eval_")})


if __name__ == "__main__":
    main()
