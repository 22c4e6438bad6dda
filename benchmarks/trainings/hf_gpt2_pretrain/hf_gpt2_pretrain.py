"""Pretrain a tiny GPT-2 from scratch on arithmetic progressions."""

import os
from dataclasses import dataclass

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

VOCAB = 32
BOS, EOS = 0, 1


class Progressions(Dataset):
    """Token sequences that count up by a fixed stride."""

    def __init__(self, size, length=16, seed=0):
        g = torch.Generator().manual_seed(seed)
        start = torch.randint(0, VOCAB - 2, (size, 1), generator=g)
        stride = torch.randint(1, 6, (size, 1), generator=g)
        body = (start + stride * torch.arange(length - 2)) % (VOCAB - 2) + 2
        bos, eos = torch.full((size, 1), BOS), torch.full((size, 1), EOS)
        self.ids = torch.cat([bos, body, eos], dim=1)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i]}


@dataclass
class LMCollator:
    ignore_index: int = -100

    def __call__(self, features):
        input_ids = torch.stack([f["input_ids"] for f in features])
        labels = torch.full_like(input_ids, self.ignore_index)
        labels[:, :-1] = input_ids[:, 1:]
        return {"input_ids": input_ids, "labels": labels}


@torch.no_grad()
def next_token_accuracy(model, dataset):
    model.eval()
    logits = model(dataset.ids).logits
    pred = logits[:, 3:-1].argmax(-1)
    return (pred == dataset.ids[:, 4:]).float().mean().item()


def main():
    set_seed(13)
    train, test = Progressions(3000), Progressions(200, seed=99)
    config = GPT2Config(
        vocab_size=VOCAB, n_positions=32, n_embd=48, n_layer=2, n_head=4,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=BOS, eos_token_id=EOS,
    )
    model = GPT2LMHeadModel(config)
    args = TrainingArguments(
        output_dir="out_gpt2",
        per_device_train_batch_size=32,
        num_train_epochs=5,
        learning_rate=3e-3,
        lr_scheduler_type="cosine",
        warmup_steps=30,
        logging_steps=50,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        seed=13,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test, data_collator=LMCollator())
    trainer.train()
    metrics = trainer.evaluate()
    print(f"eval loss {metrics['eval_loss']:.4f}")
    print(f"next-token accuracy {next_token_accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
