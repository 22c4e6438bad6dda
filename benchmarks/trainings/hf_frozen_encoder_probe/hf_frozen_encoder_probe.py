"""Two trainings with one Trainer class: learn an encoder on sentence order, freeze it, fit a head for another task."""

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import BertConfig, BertModel, Trainer, TrainingArguments, set_seed

set_seed(83)
VOCAB, LENGTH = 40, 12


class Rows(Dataset):
    def __init__(self, n, task, seed):
        g = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(4, VOCAB, (n, LENGTH), generator=g)
        place = torch.randint(0, LENGTH, (n, 2), generator=g)
        place[:, 1] = (place[:, 0] + 1 + place[:, 1] % (LENGTH - 1)) % LENGTH
        self.ids.scatter_(1, place, torch.tensor([2, 3]).expand(n, 2))
        first = place[:, 0] < place[:, 1]
        self.labels = first.long() if task == "order" else 1 - first.long()

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.labels[i]}


class Classifier(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(encoder.config.hidden_size, 2)

    def forward(self, input_ids, labels=None):
        hidden = self.encoder(input_ids).last_hidden_state.mean(1)
        logits = self.head(hidden)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def accuracy(output):
    return {"accuracy": float((output.predictions.argmax(-1) == output.label_ids).mean())}


def arguments(name, **changes):
    return TrainingArguments(
        output_dir=f"out-{name}", report_to="none", use_cpu=True, disable_tqdm=True, save_strategy="no",
        eval_strategy="epoch", logging_strategy="epoch", per_device_eval_batch_size=200, **changes,
    )  # fmt: skip


encoder = BertModel(
    BertConfig(vocab_size=VOCAB, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
               max_position_embeddings=LENGTH, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0),
    add_pooling_layer=False,
)  # fmt: skip
first = Trainer(
    Classifier(encoder),
    arguments("order", num_train_epochs=6, learning_rate=2e-3, warmup_steps=40, per_device_train_batch_size=40),
    train_dataset=Rows(2000, "order", 1), eval_dataset=Rows(400, "order", 2), compute_metrics=accuracy,
)  # fmt: skip
first.train()

for parameter in encoder.parameters():
    parameter.requires_grad = False  # trained above, kept as it is from here on
probe = Classifier(encoder)
few = Rows(60, "reverse", 3)
second = Trainer(
    probe,
    # 60 rows and one linear layer: a high rate without decay is what a probe wants.
    arguments("reverse", num_train_epochs=15, learning_rate=5e-2, per_device_train_batch_size=20),
    train_dataset=few,
    eval_dataset={"unseen": Rows(400, "reverse", 4), "the_training_rows": few},
    compute_metrics=accuracy,
)  # fmt: skip
second.train()
print({k: round(v, 3) for k, v in second.evaluate().items() if "accuracy" in k})
