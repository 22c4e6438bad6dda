"""Token tagging with a small DistilBERT from a config: own loss with class weights, ignored padding, two rates in one optimizer."""
import numpy as np
import torch
import torch.nn.functional as F
from transformers import DistilBertConfig, DistilBertForTokenClassification, Trainer, TrainingArguments, set_seed

SEED = 83
set_seed(SEED)
rng = np.random.default_rng(SEED)
# 1 CLS, 2 '#', 3 ':' , 4..13 digits, 14.. letters
HASH, COLON, DIGIT, LETTER, VOCAB = 2, 3, 4, 14, 40
TAGS = ["O", "CODE", "TIME"]


def line():
    """Digits after '#' up to the next letter are a CODE; digits around ':' are a TIME; other digits are nothing."""
    ids, tags = [1], [-100]

    def put(tokens, tag):
        ids.extend(int(t) for t in tokens)
        tags.extend([tag] * len(tokens))

    for _ in range(rng.integers(2, 5)):
        put(rng.integers(LETTER, VOCAB, rng.integers(1, 4)), 0)
        kind = rng.integers(0, 3)
        digits = list(DIGIT + rng.integers(0, 10, 2))
        if kind == 0:
            put([HASH], 0)
            put(digits, 1)
        elif kind == 1:
            put([digits[0], COLON, digits[1]], 2)
        else:
            put(digits, 0)
    return ids, tags


def collate(rows):
    width = max(len(i) for i, _ in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    labels = torch.full((len(rows), width), -100)
    for r, (i, t) in enumerate(rows):
        ids[r, : len(i)] = torch.tensor(i)
        labels[r, : len(t)] = torch.tensor(t)
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": labels}


class WeightedTrainer(Trainer):
    class_weight = torch.tensor([0.4, 1.0, 1.0])

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        loss = F.cross_entropy(out.logits.flatten(0, 1), labels.flatten(), weight=self.class_weight,
                               ignore_index=-100, label_smoothing=0.05)
        return (loss, out) if return_outputs else loss

    def create_optimizer(self, *a, **k):
        if self.optimizer is None:
            head = [p for n, p in self.model.named_parameters() if n.startswith("classifier")]
            body = [p for n, p in self.model.named_parameters() if not n.startswith("classifier")]
            lr = self.args.learning_rate
            self.optimizer = torch.optim.AdamW([{"params": body}, {"params": head, "lr": 3 * lr}], lr=lr, weight_decay=0.01)
        return self.optimizer


def metrics(p):
    keep = p.label_ids != -100
    guess, truth = p.predictions.argmax(-1)[keep], p.label_ids[keep]
    out = {"accuracy": float((guess == truth).mean()), "all_O": float((truth == 0).mean())}
    for k, name in enumerate(TAGS[1:], 1):
        tp = ((guess == k) & (truth == k)).sum()
        out["f1_" + name] = float(2 * tp / max(1, (guess == k).sum() + (truth == k).sum()))
    return out


config = DistilBertConfig(vocab_size=VOCAB, dim=48, n_layers=2, n_heads=4, hidden_dim=96, max_position_embeddings=64,
                          num_labels=len(TAGS), dropout=0.0, attention_dropout=0.0, pad_token_id=0)
trainer = WeightedTrainer(
    model=DistilBertForTokenClassification(config),
    args=TrainingArguments(
        output_dir="/tmp/ner_hf", num_train_epochs=5, per_device_train_batch_size=32, per_device_eval_batch_size=200,
        learning_rate=2e-3, lr_scheduler_type="cosine", warmup_steps=15, max_grad_norm=1.0, logging_steps=40,
        eval_strategy="epoch", save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True, seed=SEED),
    train_dataset=[line() for _ in range(1200)],
    eval_dataset=[line() for _ in range(200)],
    data_collator=collate,
    compute_metrics=metrics,
)
trainer.train()
print({k: round(v, 4) for k, v in trainer.evaluate().items() if "f1" in k or "acc" in k or "all_O" in k})
