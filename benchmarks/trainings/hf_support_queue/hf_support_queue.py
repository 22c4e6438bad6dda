"""Sort support mails into five queues: a small BERT built from its configuration, trained by the Hugging Face Trainer."""

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(36)
QUEUES, VOCAB, LENGTH = 5, 120, 20
PAD, CLS = 0, 1


def write_mails(n, seed):
    """Each queue has eight words of its own; a mail holds three of them among common ones."""
    rng = np.random.default_rng(seed)
    ids = np.full((n, LENGTH), PAD)
    queue = rng.integers(0, QUEUES, n)
    for row in range(n):
        length = rng.integers(8, LENGTH)
        words = rng.integers(50, VOCAB, length)
        places = rng.choice(length, 3, replace=False)
        words[places] = 2 + queue[row] * 8 + rng.integers(0, 8, 3)
        ids[row, 0] = CLS
        ids[row, 1 : length + 1] = words[: LENGTH - 1]
    return ids, queue


class Mails(Dataset):
    def __init__(self, n, seed):
        self.ids, self.queue = write_mails(n, seed)

    def __len__(self):
        return len(self.queue)

    def __getitem__(self, i):
        ids = torch.tensor(self.ids[i])
        return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": torch.tensor(self.queue[i])}


def compute_metrics(output):
    predicted = output.predictions.argmax(-1)
    return {"accuracy": float((predicted == output.label_ids).mean())}


config = BertConfig(
    vocab_size=VOCAB,
    hidden_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=96,
    max_position_embeddings=LENGTH,
    num_labels=QUEUES,
    hidden_dropout_prob=0.1,
)
model = BertForSequenceClassification(config)

args = TrainingArguments(
    output_dir="out-support-queue",
    num_train_epochs=5,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=200,
    learning_rate=2e-5,
    weight_decay=0.01,
    eval_strategy="epoch",
    logging_strategy="epoch",
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
    seed=36,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=Mails(1600, 1),
    eval_dataset=Mails(400, 2),
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate())
