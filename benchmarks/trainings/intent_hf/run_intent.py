"""Train a small BERT from scratch on synthetic voice-assistant commands."""
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(29)

INTENTS = {
    "light": ["turn {o} the {r} lamp", "{r} light {o} please", "make it bright in the {r}"],
    "music": ["play {a}", "put {a} on in the {r}", "i want to hear {a}"],
    "timer": ["set a timer for {n} minutes", "remind me in {n} minutes", "wake me in {n} hours"],
    "weather": ["will it rain {d}", "how warm is it {d}", "do i need a coat {d}"],
    "shop": ["add {n} {f} to my list", "we are out of {f}", "order {f} for {d}"],
}
FILL = {
    "o": ["on", "off"], "r": ["kitchen", "bedroom", "hall", "bath"], "a": ["jazz", "bach", "the news", "rock"],
    "n": ["two", "five", "ten", "thirty"], "d": ["today", "tomorrow", "on friday"], "f": ["milk", "eggs", "soap", "rice"],
}
LABELS = sorted(INTENTS)


def command():
    intent = random.choice(LABELS)
    text = random.choice(INTENTS[intent]).format(**{k: random.choice(v) for k, v in FILL.items()})
    words = text.split()
    if random.random() < 0.5:
        words.insert(0, random.choice(["please", "hey", "um", "ok"]))
    return words, LABELS.index(intent)


class CommandDataset(Dataset):
    def __init__(self, rows, vocab, max_len=10):
        self.rows, self.vocab, self.max_len = rows, vocab, max_len

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, label = self.rows[i]
        ids = [1] + [self.vocab.get(w, 2) for w in words][: self.max_len - 1]
        pad = self.max_len - len(ids)
        return {
            "input_ids": torch.tensor(ids + [0] * pad),
            "attention_mask": torch.tensor([1] * len(ids) + [0] * pad),
            "labels": label,
        }


def compute_metrics(pred):
    guess = np.argmax(pred.predictions, axis=-1)
    per_class = [(guess[pred.label_ids == k] == k).mean() for k in range(len(LABELS))]
    return {"accuracy": (guess == pred.label_ids).mean(), "worst_recall": min(per_class)}


def main():
    train_rows, eval_rows = [command() for _ in range(1200)], [command() for _ in range(300)]
    words = sorted({w for ws, _ in train_rows for w in ws})
    vocab = {w: i + 3 for i, w in enumerate(words)}
    config = BertConfig(
        vocab_size=len(vocab) + 3, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=16, num_labels=len(LABELS), pad_token_id=0,
    )
    model = BertForSequenceClassification(config)
    args = TrainingArguments(
        output_dir="/tmp/intent_hf",
        num_train_epochs=4,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=150,
        learning_rate=3e-6,
        lr_scheduler_type="linear",
        warmup_steps=10,
        weight_decay=0.01,
        logging_steps=19,
        eval_strategy="epoch",
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        seed=29,
    )
    trainer = Trainer(
        model=model, args=args, compute_metrics=compute_metrics,
        train_dataset=CommandDataset(train_rows, vocab), eval_dataset=CommandDataset(eval_rows, vocab),
    )
    trainer.train()
    final = trainer.evaluate()
    print({k: round(v, 4) for k, v in final.items() if k in ("eval_loss", "eval_accuracy", "eval_worst_recall")})


if __name__ == "__main__":
    main()
