"""Token tagging with a small BERT: mark numbers that follow a marker word."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed

MARKERS, NUMBERS, WORDS = range(3, 6), range(6, 16), range(16, 64)


class TaggedLines(torch.utils.data.Dataset):
    def __init__(self, n, seed, length=12):
        rng = np.random.default_rng(seed)
        self.samples = []
        for _ in range(n):
            ids = rng.choice(list(WORDS), length)
            where = rng.random(length) < 0.4
            ids[where] = rng.choice(list(NUMBERS), where.sum())
            mark = rng.random(length) < 0.25
            ids[mark] = rng.choice(list(MARKERS), mark.sum())
            tags = np.zeros(length, dtype=np.int64)
            for i in range(1, length):
                if ids[i] in NUMBERS:
                    tags[i] = 2 if ids[i - 1] in MARKERS else 1
            self.samples.append({"input_ids": torch.tensor(ids), "labels": torch.tensor(tags)})

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]


def metrics(prediction):
    guess = prediction.predictions.argmax(-1)
    labels = prediction.label_ids
    marked = labels == 2
    return {"accuracy": float((guess == labels).mean()), "recall_marked": float((guess[marked] == 2).mean())}


def get_model():
    return BertForTokenClassification(
        BertConfig(
            vocab_size=64, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
            max_position_embeddings=16, num_labels=3, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        )
    )


def get_args():
    return TrainingArguments(
        output_dir="out_tags",
        learning_rate=5e-5,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=10_000,
        num_train_epochs=5,
        per_device_train_batch_size=40,
        per_device_eval_batch_size=100,
        adam_beta2=0.98,
        max_grad_norm=1.0,
        logging_strategy="epoch",
        eval_strategy="epoch",
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        seed=31,
    )


def main():
    set_seed(31)
    trainer = Trainer(
        model=get_model(),
        args=get_args(),
        train_dataset=TaggedLines(1600, 1),
        eval_dataset=TaggedLines(300, 2),
        compute_metrics=metrics,
    )
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
