"""Token classification (slot filling) with a small BERT made from scratch and the HF Trainer."""
import random
import tempfile

import numpy as np
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed

VERBS = "book find show get reserve".split()
CITIES = "oslo lima cairo quito paris delhi tunis porto".split()
DAYS = "monday tuesday friday sunday today tomorrow".split()
FILL = "please a flight me the cheapest some for two people with bags early late".split()
WORDS = ["[PAD]"] + VERBS + CITIES + DAYS + FILL + ["from", "to", "on", "not"]
WORD_ID = {w: i for i, w in enumerate(WORDS)}
LABELS = ["O", "FROM", "TO", "DAY"]


def sentence(g):
    words, tags = [g.choice(VERBS)], ["O"]

    def filler():
        for _ in range(g.randint(0, 4)):
            words.append(g.choice(FILL))
            tags.append("O")

    parts = g.sample(["from", "to", "on"], g.randint(1, 3))
    for part in parts:
        filler()
        words.append(part)
        tags.append("O")
        if g.random() < 0.3:
            words.append("the")
            tags.append("O")
        denied = g.random() < 0.25
        if denied:
            words.append("not")
            tags.append("O")
        words.append(g.choice(DAYS if part == "on" else CITIES))
        tags.append("O" if denied else {"from": "FROM", "to": "TO", "on": "DAY"}[part])
    filler()
    return [WORD_ID[w] for w in words], [LABELS.index(t) for t in tags]


class Sentences(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        g = random.Random(seed)
        self.data = [sentence(g) for _ in range(n)]

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        ids, labels = self.data[i]
        return {"input_ids": ids, "labels": labels}


def collate(features):
    width = max(len(f["input_ids"]) for f in features)
    ids = torch.zeros(len(features), width, dtype=torch.long)
    mask = torch.zeros_like(ids)
    labels = torch.full_like(ids, -100)
    for row, f in enumerate(features):
        n = len(f["input_ids"])
        ids[row, :n] = torch.tensor(f["input_ids"])
        labels[row, :n] = torch.tensor(f["labels"])
        mask[row, :n] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


class WeightedTrainer(Trainer):
    """Slots are rare beside `O`: they count three times."""

    weight = torch.tensor([1.0, 3.0, 3.0, 3.0])

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs["labels"]
        outputs = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        loss = torch.nn.functional.cross_entropy(
            outputs.logits.flatten(0, 1), labels.flatten(), weight=self.weight, ignore_index=-100
        )
        return (loss, outputs) if return_outputs else loss


def metrics(p):
    pred, gold = p.predictions.argmax(-1), p.label_ids
    real = gold != -100
    slot_true, slot_pred = real & (gold > 0), real & (pred > 0)
    hit = (slot_true & (pred == gold)).sum()
    precision, recall = hit / max(1, slot_pred.sum()), hit / max(1, slot_true.sum())
    return {
        "token_acc": float((pred == gold)[real].mean()),
        "f1": float(2 * precision * recall / max(1e-9, precision + recall)),
        "all_O": float((gold[real] == 0).mean()),
    }


def main():
    set_seed(6)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=40, num_labels=len(LABELS), pad_token_id=0,
    )
    model = BertForTokenClassification(config)
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out, num_train_epochs=5, per_device_train_batch_size=24, per_device_eval_batch_size=100,
            gradient_accumulation_steps=2, learning_rate=3e-3, lr_scheduler_type="linear", warmup_steps=20,
            eval_strategy="epoch", save_strategy="no", logging_strategy="epoch", report_to="none",
            use_cpu=True, disable_tqdm=True, remove_unused_columns=False, label_names=["labels"], seed=6,
        )
        trainer = WeightedTrainer(
            model=model, args=args, data_collator=collate, train_dataset=Sentences(2400, 1),
            eval_dataset=Sentences(400, 2), compute_metrics=metrics,
        )
        trainer.train()
        final = trainer.evaluate()
    print({k: round(v, 4) for k, v in final.items() if k in ("eval_loss", "eval_f1", "eval_token_acc", "eval_all_O")})
    assert np.isfinite(final["eval_loss"])


if __name__ == "__main__":
    main()
