"""A small BERT from a configuration (no download), fine-tuned with the Trainer."""
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Sentences(Dataset):
    def __init__(self, size, seed):
        gen = torch.Generator().manual_seed(seed)
        self.tokens = torch.randint(5, 60, (size, 16), generator=gen)
        self.labels = (self.tokens[:, 0] > 32).long()

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return {"input_ids": self.tokens[i], "attention_mask": torch.ones(16, dtype=torch.long), "labels": self.labels[i]}


def accuracy(prediction):
    return {"accuracy": float((np.argmax(prediction.predictions, axis=-1) == prediction.label_ids).mean())}


config = BertConfig(
    vocab_size=60,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    hidden_act="gelu",
    hidden_dropout_prob=0.1,
    max_position_embeddings=16,
    num_labels=2,
)

training_args = TrainingArguments(
    output_dir="out",
    num_train_epochs=2,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=64,
    learning_rate=5e-4,
    weight_decay=0.01,
    warmup_steps=4,
    lr_scheduler_type="cosine",
    max_grad_norm=1.0,
    optim="adamw_torch",
    logging_steps=5,
    eval_strategy="epoch",
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
    use_cpu=True,
    seed=20,
)

if __name__ == "__main__":
    torch.manual_seed(20)
    model = BertForSequenceClassification(config)
    trainer = Trainer(
        model=model,
        args=training_args,
        train_dataset=Sentences(160, seed=0),
        eval_dataset=Sentences(64, seed=1),
        compute_metrics=accuracy,
    )
    trainer.train()
    print("eval accuracy %.3f" % trainer.evaluate()["eval_accuracy"])
