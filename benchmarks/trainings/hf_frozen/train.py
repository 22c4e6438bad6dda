"""Masked-token pretraining of a small encoder, then a frozen-encoder probe with a custom Trainer loss.

The probe predicts a signed real value (log-odds of two event kinds), so its targets are partly negative.
"""
import numpy as np
import torch
from torch import nn
from transformers import (
    PretrainedConfig,
    PreTrainedModel,
    RobertaConfig,
    RobertaForMaskedLM,
    Trainer,
    TrainingArguments,
    set_seed,
)
from transformers.modeling_outputs import SequenceClassifierOutput

set_seed(29)
V, T, MASK = 16, 20, 3
rng = np.random.default_rng(29)
CHAIN = [rng.dirichlet(np.full(V - 4, 0.12), size=V - 4) for _ in range(2)]


def walks(n):
    """Event logs that follow one of two Markov chains, mixed with a per-log rate."""
    rate = rng.uniform(0.05, 0.95, n)
    seq = np.empty((n, T), dtype=np.int64)
    seq[:, 0] = rng.integers(0, V - 4, n)
    cdf = [c.cumsum(1) for c in CHAIN]
    for t in range(1, T):
        pick, u = rng.random(n) < rate, rng.random(n)
        row = np.where(pick[:, None], cdf[1][seq[:, t - 1]], cdf[0][seq[:, t - 1]])
        seq[:, t] = np.minimum((u[:, None] > row).sum(1), V - 5)
    return seq + 4, np.log(rate / (1 - rate)).astype("float32")


class Rows(torch.utils.data.Dataset):
    def __init__(self, **cols):
        self.cols = cols

    def __len__(self):
        return len(next(iter(self.cols.values())))

    def __getitem__(self, i):
        return {k: v[i] for k, v in self.cols.items()}


def mlm_collate(rows):
    ids = torch.as_tensor(np.stack([r["input_ids"] for r in rows]))
    hide = torch.rand(ids.shape) < 0.2
    return {"input_ids": ids.masked_fill(hide, MASK), "attention_mask": torch.ones_like(ids), "labels": ids.masked_fill(~hide, -100)}


class ProbeConfig(PretrainedConfig):
    model_type = "frozen_probe"


class FrozenProbe(PreTrainedModel):
    config_class = ProbeConfig

    def __init__(self, config, encoder, width):
        super().__init__(config)
        self.encoder = encoder.requires_grad_(False)
        self.head = nn.Sequential(nn.Linear(2 * width, 64), nn.GELU(), nn.Linear(64, 1))

    def train(self, mode=True):
        super().train(mode)
        self.encoder.eval()          # frozen part never uses dropout
        return self

    def forward(self, input_ids, labels=None):
        with torch.no_grad():
            h = self.encoder(input_ids=input_ids, attention_mask=torch.ones_like(input_ids)).last_hidden_state
        return SequenceClassifierOutput(logits=self.head(torch.cat([h.mean(1), h.std(1)], -1)).squeeze(-1))


class HuberTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        y = inputs.pop("labels")
        out = model(**inputs)
        loss = nn.functional.huber_loss(out.logits, y.float(), delta=2.0)
        return (loss, {"loss": loss, "logits": out.logits}) if return_outputs else loss


def args(lr, epochs, **kw):
    return TrainingArguments(
        output_dir="/tmp/probe_out", learning_rate=lr, num_train_epochs=epochs, per_device_train_batch_size=40, save_strategy="no",
        per_device_eval_batch_size=200, logging_strategy="epoch", report_to=[], disable_tqdm=True, use_cpu=True, seed=29,
        label_names=["labels"], remove_unused_columns=False, **kw,
    )


if __name__ == "__main__":
    x, y = walks(1600)
    xt, yt = walks(500)
    cfg = RobertaConfig(vocab_size=V, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
                        max_position_embeddings=T + 4, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                        initializer_range=0.15, pad_token_id=1, bos_token_id=0, eos_token_id=2)
    mlm = RobertaForMaskedLM(cfg)
    Trainer(model=mlm, args=args(3e-3, 10), train_dataset=Rows(input_ids=x), data_collator=mlm_collate).train()
    probe = FrozenProbe(ProbeConfig(), mlm.roberta, cfg.hidden_size)
    trainer = HuberTrainer(
        model=probe, args=args(5e-3, 8, eval_strategy="epoch", lr_scheduler_type="cosine"),
        train_dataset=Rows(input_ids=x, labels=y), eval_dataset=Rows(input_ids=xt, labels=yt),
        compute_metrics=lambda p: {"r2": float(1 - ((p.predictions - p.label_ids) ** 2).mean() / p.label_ids.var())},
    )
    trainer.train()
    print({k: round(v, 4) for k, v in trainer.evaluate().items() if k in ("eval_loss", "eval_r2")})
