"""Intent detection with a small BERT trained from scratch through the Hugging Face Trainer."""
import os

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

INTENTS = {
    "balance": ["balance", "account", "how", "much", "left", "money"],
    "transfer": ["send", "transfer", "pay", "to", "friend", "money"],
    "card": ["card", "lost", "block", "stolen", "new", "pin"],
    "hours": ["open", "branch", "hours", "when", "sunday", "close"],
}
FILLER = "please can you i my the a today need want hello thanks would like tell me".split()
WORDS = ["[PAD]", "[CLS]"] + sorted({w for ws in INTENTS.values() for w in ws} | set(FILLER))
STOI = {w: i for i, w in enumerate(WORDS)}


def utterance(rng, label):
    keys = list(INTENTS.values())[label]
    words = list(rng.choice(FILLER, rng.integers(2, 9))) + list(rng.choice(keys, 2, replace=False))
    rng.shuffle(words)
    return [STOI["[CLS]"]] + [STOI[w] for w in words]


class Utterances(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.items = []
        for _ in range(n):
            label = int(rng.integers(0, len(INTENTS)))
            self.items.append({"input_ids": utterance(rng, label), "labels": label})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(features):
    width = max(len(f["input_ids"]) for f in features)
    ids = torch.zeros(len(features), width, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, f in enumerate(features):
        ids[row, : len(f["input_ids"])] = torch.tensor(f["input_ids"])
        mask[row, : len(f["input_ids"])] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([f["labels"] for f in features])}


def metrics(pred):
    return {"accuracy": float((pred.predictions.argmax(-1) == pred.label_ids).mean())}


def main():
    set_seed(41)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=32, num_labels=len(INTENTS), pad_token_id=0,
    )
    model = BertForSequenceClassification(config)
    args = TrainingArguments(
        output_dir="out_intent", num_train_epochs=4, per_device_train_batch_size=32,
        per_device_eval_batch_size=100, learning_rate=1e-3, warmup_steps=25, lr_scheduler_type="cosine",
        label_smoothing_factor=0.1, weight_decay=0.01, eval_strategy="epoch", save_strategy="no",
        logging_steps=25, report_to="none", use_cpu=True, disable_tqdm=True, dataloader_pin_memory=False,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=Utterances(1200, 0), eval_dataset=Utterances(300, 1),
        data_collator=collate, compute_metrics=metrics,
    )
    trainer.train()
    print({k: round(v, 4) for k, v in trainer.evaluate().items() if k in ("eval_loss", "eval_accuracy")})


if __name__ == "__main__":
    main()
