"""Token tagging with a tiny BERT built from a config.

Only content tokens carry a tag, everything else is -100. The embedding table is frozen on purpose:
it comes from co-occurrence counts (SVD) of a bigger unlabelled pile, made below.
"""
import tempfile

import numpy as np
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed

VOCAB, TAGS, MAXLEN, DIM = 120, 4, 14, 48
rng = np.random.default_rng(5)
word_group = rng.integers(0, 6, VOCAB)            # hidden word class
word_group[:4] = 0                                # 0 pad, 1 cls, 2 sep, 3 filler


def sentence():
    n = int(rng.integers(5, MAXLEN - 2))
    topic = rng.integers(0, 3)
    groups = [topic * 2, topic * 2 + 1]
    pool = np.flatnonzero(np.isin(word_group, groups) & (np.arange(VOCAB) > 3))
    words = rng.choice(pool, n)
    filler = rng.random(n) < 0.3
    words[filler] = 3
    tags = np.full(n, -100)
    prev = 0
    for i, w in enumerate(words):
        if w == 3:
            continue
        g = word_group[w] % 2
        tags[i] = g * 2 + prev                    # depends on the content word before
        prev = g
    return words, tags


def encode(count):
    rows = []
    for _ in range(count):
        w, t = sentence()
        ids = [1, *w.tolist(), 2]
        lab = [-100, *t.tolist(), -100]
        pad = MAXLEN - len(ids)
        rows.append({
            "input_ids": ids + [0] * pad,
            "attention_mask": [1] * len(ids) + [0] * pad,
            "labels": lab + [-100] * pad,
        })
    return rows


def cooccurrence_vectors(n_sentences=6000):
    c = np.zeros((VOCAB, VOCAB))
    for _ in range(n_sentences):
        w, _ = sentence()
        for a, b in zip(w[:-1], w[1:]):
            c[a, b] += 1
            c[b, a] += 1
    u, s, _ = np.linalg.svd(np.log1p(c))
    v = u[:, :DIM] * np.sqrt(s[:DIM])
    return torch.tensor(v / v.std(), dtype=torch.float32)


def metrics(p):
    pred, lab = p.predictions.argmax(-1), p.label_ids
    keep = lab != -100
    return {"accuracy": float((pred[keep] == lab[keep]).mean())}


def main():
    set_seed(1)
    table = cooccurrence_vectors()
    train, test = encode(3000), encode(500)
    cfg = BertConfig(vocab_size=VOCAB, hidden_size=DIM, num_hidden_layers=2, num_attention_heads=4,
                     intermediate_size=96, max_position_embeddings=MAXLEN, num_labels=TAGS,
                     hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.05)
    model = BertForTokenClassification(cfg)
    emb = model.get_input_embeddings()
    with torch.no_grad():
        emb.weight.copy_(table)
    emb.weight.requires_grad_(False)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=8, per_device_train_batch_size=32,
        gradient_accumulation_steps=2, learning_rate=3e-3, warmup_steps=30, lr_scheduler_type="linear",
        weight_decay=0.01, logging_steps=60, save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=metrics)
    trainer.train()
    out = trainer.evaluate()
    lab = np.concatenate([np.array(r["labels"]) for r in test])
    lab = lab[lab >= 0]
    print(f"tag accuracy {out['eval_accuracy']:.3f}, most common tag {np.bincount(lab).max() / len(lab):.3f}")


if __name__ == "__main__":
    main()
