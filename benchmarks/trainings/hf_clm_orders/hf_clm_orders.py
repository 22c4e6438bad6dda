"""GPT-2 from a small config, trained with the Trainer on synthetic order messages."""
import math
import random

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

PAD, BOS, EOS = 0, 1, 2
SEQ_LEN = 40


class CharTokenizer:
    def __init__(self, texts):
        alphabet = sorted({c for t in texts for c in t})
        self.to_id = {c: i + 3 for i, c in enumerate(alphabet)}
        self.to_char = {i: c for c, i in self.to_id.items()}

    def __len__(self):
        return len(self.to_id) + 3

    def encode(self, text):
        return [BOS, *(self.to_id[c] for c in text), EOS]

    def decode(self, ids):
        return "".join(self.to_char.get(i, "") for i in ids)


class OrderDataset(Dataset):
    def __init__(self, texts, tokenizer):
        self.rows = [tokenizer.encode(t)[: SEQ_LEN + 1] for t in texts]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        return {"input_ids": row[:-1], "labels": row[1:]}


def collate(features):
    longest = max(len(f["input_ids"]) for f in features)
    input_ids, labels, mask = [], [], []
    for f in features:
        gap = longest - len(f["input_ids"])
        input_ids.append(f["input_ids"] + [PAD] * gap)
        labels.append(f["labels"] + [-100] * gap)
        mask.append([1] * len(f["input_ids"]) + [0] * gap)
    return {
        "input_ids": torch.tensor(input_ids),
        "attention_mask": torch.tensor(mask),
        "labels": torch.tensor(labels),
    }


def make_texts(n, seed):
    rng = random.Random(seed)
    people = ["ada", "bo", "chen", "dara", "eli"]
    goods = ["apples", "pears", "lamps", "books", "chairs"]
    return [f"{rng.choice(people)} orders {rng.randint(2, 99)} {rng.choice(goods)}" for _ in range(n)]


def complete(model, tokenizer, prompt, n=24):
    ids = torch.tensor([tokenizer.encode(prompt)[:-1]])
    model.eval()
    with torch.no_grad():
        for _ in range(n):
            nxt = model(input_ids=ids).logits[:, -1].argmax(-1, keepdim=True)
            if nxt.item() == EOS:
                break
            ids = torch.cat([ids, nxt], dim=1)
    return tokenizer.decode(ids[0].tolist())


def main():
    set_seed(11)
    train_texts, eval_texts = make_texts(1200, 0), make_texts(150, 1)
    tokenizer = CharTokenizer(train_texts + eval_texts)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=64, n_layer=2, n_head=4,
        bos_token_id=BOS, eos_token_id=EOS, pad_token_id=PAD,
    )
    model = GPT2LMHeadModel(config)
    args = TrainingArguments(
        output_dir="hf_clm_orders_out",
        num_train_epochs=3,
        per_device_train_batch_size=24,
        per_device_eval_batch_size=64,
        learning_rate=2e-3,
        warmup_steps=15,
        lr_scheduler_type="cosine",
        weight_decay=0.01,
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=25,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=OrderDataset(train_texts, tokenizer),
        eval_dataset=OrderDataset(eval_texts, tokenizer),
        data_collator=collate,
    )
    trainer.train()
    result = trainer.evaluate()
    print(f"perplexity {math.exp(result['eval_loss']):.2f}")
    for prompt in ("ada orders ", "chen ord", "bo"):
        print(repr(complete(model, tokenizer, prompt)))


if __name__ == "__main__":
    main()
