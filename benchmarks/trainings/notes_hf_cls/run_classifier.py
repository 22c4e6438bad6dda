"""Topic classification of short notes with a small BERT trained from scratch (HF Trainer)."""
import random
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

TOPICS = {
    "cooking": "boil simmer oven recipe garlic onion pan knife roast butter".split(),
    "sport": "match goal referee team coach sprint league ball score stadium".split(),
    "travel": "flight hotel passport luggage train ticket tour beach border map".split(),
    "finance": "loan bank interest stock bond tax budget invoice profit market".split(),
}
COMMON = "the a we they today again with about from into more very then some our new small".split()
PAD, CLS = 0, 1


def make_split(n, seed):
    rng = random.Random(seed)
    names = list(TOPICS)
    rows = []
    for _ in range(n):
        k = rng.randrange(len(names))
        words = [rng.choice(COMMON) for _ in range(rng.randint(6, 12))]
        other = TOPICS[names[(k + rng.randint(1, 3)) % 4]]
        words += rng.choices(TOPICS[names[k]], k=2) + rng.choices(other, k=1)
        rng.shuffle(words)
        rows.append((words, k))
    return rows


VOCAB = {w: i + 2 for i, w in enumerate(sorted(set(COMMON) | {w for v in TOPICS.values() for w in v}))}


class Notes(Dataset):
    def __init__(self, rows, max_len=16):
        self.items = []
        for words, k in rows:
            ids = [CLS] + [VOCAB[w] for w in words][: max_len - 1]
            mask = [1] * len(ids) + [0] * (max_len - len(ids))
            ids = ids + [PAD] * (max_len - len(ids))
            self.items.append({"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "labels": torch.tensor(k)})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def freeze_positions(model):
    """Position vectors are few and noisy at this size; keep them at their initial values."""
    for name, param in model.named_parameters():
        if "position" or "token_type" in name:
            param.requires_grad = False
    for param in model.classifier.parameters():
        param.requires_grad = True


def metrics(pred):
    return {"accuracy": float((np.argmax(pred.predictions, -1) == pred.label_ids).mean())}


def main():
    set_seed(1)
    train, val = Notes(make_split(1600, 1)), Notes(make_split(400, 2))
    cfg = BertConfig(vocab_size=len(VOCAB) + 2, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                     intermediate_size=96, max_position_embeddings=16, num_labels=4, pad_token_id=PAD)
    model = BertForSequenceClassification(cfg)
    freeze_positions(model)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=5,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=200,
        learning_rate=2e-3,
        warmup_steps=20,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=val, compute_metrics=metrics)
    trainer.train()
    print("final eval:", trainer.evaluate())


if __name__ == "__main__":
    main()
