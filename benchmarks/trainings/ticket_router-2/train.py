"""Route support tickets (token ids) to one of four teams with a small BERT and the HF Trainer."""
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

set_seed(42)

VOCAB_SIZE, SEQ_LEN, N_TEAMS = 200, 20, 4
CLS, SEP = 1, 2


class Tickets(Dataset):
    """Noise words plus three words of the right team's jargon and one word of another team's."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        jargon = np.arange(100, 180).reshape(N_TEAMS, 20)
        self.labels = rng.integers(0, N_TEAMS, n)
        self.ids = rng.integers(3, 100, size=(n, SEQ_LEN))
        for i, team in enumerate(self.labels):
            where = rng.permutation(np.arange(1, SEQ_LEN - 1))[:4]
            self.ids[i, where[:3]] = rng.choice(jargon[team], 3)
            other = (team + rng.integers(1, N_TEAMS)) % N_TEAMS
            self.ids[i, where[3]] = rng.choice(jargon[other])
        self.ids[:, 0] = CLS
        self.ids[:, -1] = SEP

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        ids = torch.tensor(self.ids[i])
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": torch.tensor(self.labels[i])}


def build_model():
    config = BertConfig(
        vocab_size=VOCAB_SIZE,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=SEQ_LEN,
        num_labels=N_TEAMS,
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.1,
    )
    model = BertForSequenceClassification(config)
    for param in model.base_model.parameters():
        param.requires_grad = False
    return model


def compute_metrics(pred):
    guess = pred.predictions.argmax(-1)
    return {"accuracy": float((guess == pred.label_ids).mean())}


class EpochLog(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"epoch {state.epoch:.0f}  eval_loss {metrics['eval_loss']:.4f}  accuracy {metrics['eval_accuracy']:.3f}")


def main():
    args = TrainingArguments(
        output_dir="/tmp/ticket_router",
        num_train_epochs=6,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        learning_rate=1e-3,
        weight_decay=0.01,
        warmup_steps=20,
        eval_strategy="epoch",
        save_strategy="no",
        logging_strategy="epoch",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    model = build_model()
    n_train = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"trainable parameters: {n_train:,} of {model.num_parameters():,}")
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=Tickets(1600, seed=1),
        eval_dataset=Tickets(500, seed=2),
        compute_metrics=compute_metrics,
        callbacks=[EpochLog()],
    )
    trainer.train()


if __name__ == "__main__":
    main()
