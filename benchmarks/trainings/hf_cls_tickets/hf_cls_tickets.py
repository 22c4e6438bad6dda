"""Ticket routing with a small BERT built from a config and trained with the Hugging Face Trainer."""
import numpy as np
import torch
from sklearn.metrics import accuracy_score, f1_score
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)

LABELS = ["billing", "technical", "delivery", "account"]
TOPIC_WORDS = {
    "billing": "invoice refund charge card amount payment receipt".split(),
    "technical": "crash error screen update bug install freeze".split(),
    "delivery": "parcel courier late tracking address box arrived".split(),
    "account": "password login email profile delete username locked".split(),
}
FILLER = "the my is a please help with i since yesterday again and it was not can you to for on".split()
VOCAB = {w: i for i, w in enumerate(["[PAD]", "[CLS]", "[SEP]", *FILLER, *sorted({w for v in TOPIC_WORDS.values() for w in v})])}


def write_ticket(rng, label):
    length = rng.integers(6, 22)
    other = LABELS[rng.integers(len(LABELS))]
    words = []
    for _ in range(length):
        r = rng.random()
        if r < 0.18:
            words.append(rng.choice(TOPIC_WORDS[label]))
        elif r < 0.24:
            words.append(rng.choice(TOPIC_WORDS[other]))
        else:
            words.append(rng.choice(FILLER))
    return ["[CLS]", *words, "[SEP]"]


class Tickets(Dataset):
    def __init__(self, n, seed, max_len=24):
        rng = np.random.default_rng(seed)
        self.items = []
        for _ in range(n):
            y = int(rng.integers(len(LABELS)))
            ids = [VOCAB[w] for w in write_ticket(rng, LABELS[y])][:max_len]
            pad = max_len - len(ids)
            self.items.append(
                {
                    "input_ids": torch.tensor(ids + [0] * pad),
                    "attention_mask": torch.tensor([1] * len(ids) + [0] * pad),
                    "labels": torch.tensor(y),
                }
            )

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        return self.items[idx]


def compute_metrics(pred):
    guess = pred.predictions.argmax(-1)
    return {
        "accuracy": accuracy_score(pred.label_ids, guess),
        "macro_f1": f1_score(pred.label_ids, guess, average="macro"),
    }


def main():
    set_seed(42)
    config = BertConfig(
        vocab_size=len(VOCAB),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=32,
        num_labels=len(LABELS),
    )
    model = BertForSequenceClassification(config)
    training_args = TrainingArguments(
        output_dir="hf_cls_tickets_out",
        learning_rate=2e-5,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        num_train_epochs=3,
        weight_decay=0.01,
        warmup_steps=20,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=model,
        args=training_args,
        train_dataset=Tickets(1600, seed=0),
        eval_dataset=Tickets(400, seed=1),
        compute_metrics=compute_metrics,
    )
    trainer.train()
    metrics = trainer.evaluate()
    print({k: round(v, 4) for k, v in metrics.items() if "runtime" not in k})


if __name__ == "__main__":
    main()
