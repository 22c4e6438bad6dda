"""Masked language model of gene-like sequences with the Trainer: 15 % of places count, all others are labelled -100."""

import torch
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments, set_seed

set_seed(67)
LETTERS, MASK, LENGTH = 8, 8, 12


def sequences(n, seed):
    """The second half repeats the first, each letter moved by two: a hidden letter can be found elsewhere."""
    g = torch.Generator().manual_seed(seed)
    half = torch.randint(0, LETTERS, (n, LENGTH // 2), generator=g)
    return torch.cat([half, (half + 2) % LETTERS], dim=1)


class Masking:
    """Hides letters anew each time a row is drawn, so the same row never looks the same twice."""

    def __init__(self, share=0.15):
        self.share = share

    def __call__(self, rows):
        ids = torch.stack([row["ids"] for row in rows])
        hidden = torch.rand(ids.shape) < self.share
        return {"input_ids": ids.masked_fill(hidden, MASK), "labels": ids.masked_fill(~hidden, -100)}


def found(prediction):
    logits, labels = prediction
    counted = labels != -100
    return {"found": float((logits.argmax(-1) == labels)[counted].mean())}


train = [{"ids": row} for row in sequences(2000, 1)]
test = [{"ids": row} for row in sequences(300, 2)]

model = BertForMaskedLM(
    BertConfig(
        vocab_size=LETTERS + 1,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=LENGTH,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
)
args = TrainingArguments(
    output_dir="out-genes",
    num_train_epochs=10,
    per_device_train_batch_size=40,
    per_device_eval_batch_size=100,
    learning_rate=2e-3,  # high for fine-tuning, usual for so small a model from scratch
    warmup_steps=50,
    weight_decay=0.01,
    lr_scheduler_type="linear",
    max_grad_norm=1.0,
    eval_strategy="epoch",
    logging_strategy="epoch",
    save_strategy="no",
    remove_unused_columns=False,
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(model, args, data_collator=Masking(), train_dataset=train, eval_dataset=test, compute_metrics=found)
trainer.train()
final = trainer.evaluate()
# A letter whose partner is hidden too cannot be known: 0.87 is about the most there is.
print({name: round(value, 3) for name, value in final.items() if name in ("eval_loss", "eval_found")})
