"""Topic classification with a DistilBERT made from its configuration."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import random

import torch
from torch.utils.data import Dataset
from transformers import (
    DistilBertConfig,
    DistilBertForSequenceClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)

TOPICS = {
    "sport": "goal team coach match league score player".split(),
    "food": "soup bread salt oven taste recipe fresh".split(),
    "space": "orbit rocket moon star launch crew probe".split(),
}
FILLER = "the a on with very new old two first last day time people then when after often".split()
VOCAB = {w: i + 2 for i, w in enumerate(sorted({*FILLER, *(w for ws in TOPICS.values() for w in ws)}))}
PAD_ID, CLS_ID = 0, 1


def write_text(rng, topic):
    words = [rng.choice(FILLER) for _ in range(rng.randint(5, 14))]
    for _ in range(rng.randint(2, 3)):
        words.insert(rng.randrange(len(words)), rng.choice(TOPICS[topic]))
    if rng.random() < 0.3:
        words.append(rng.choice(TOPICS[rng.choice(list(TOPICS))]))
    return words


class TopicData(Dataset):
    def __init__(self, size, seed):
        rng = random.Random(seed)
        names = list(TOPICS)
        self.items = []
        for _ in range(size):
            label = rng.randrange(len(names))
            ids = [CLS_ID] + [VOCAB[w] for w in write_text(rng, names[label])]
            self.items.append({"input_ids": ids, "labels": label})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def pad_batch(items):
    width = max(len(i["input_ids"]) for i in items)
    ids = torch.tensor([i["input_ids"] + [PAD_ID] * (width - len(i["input_ids"])) for i in items])
    return {
        "input_ids": ids,
        "attention_mask": (ids != PAD_ID).long(),
        "labels": torch.tensor([i["labels"] for i in items]),
    }


def accuracy(output):
    return {"accuracy": float((output.predictions.argmax(-1) == output.label_ids).mean())}


if __name__ == "__main__":
    set_seed(7)
    model = DistilBertForSequenceClassification(
        DistilBertConfig(
            vocab_size=len(VOCAB) + 2, dim=48, n_layers=2, n_heads=4, hidden_dim=96,
            max_position_embeddings=32, num_labels=len(TOPICS), pad_token_id=PAD_ID,
        )
    )
    training_args = TrainingArguments(
        output_dir="out_topics",
        per_device_train_batch_size=16,
        gradient_accumulation_steps=2,
        per_device_eval_batch_size=100,
        learning_rate=1.5e-3,
        lr_scheduler_type="linear",
        warmup_steps=20,
        label_smoothing_factor=0.1,
        weight_decay=0.01,
        num_train_epochs=4,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=model, args=training_args, train_dataset=TopicData(1500, 1), eval_dataset=TopicData(300, 2),
        data_collator=pad_batch, compute_metrics=accuracy,
    )
    trainer.train()
    print(trainer.evaluate())
