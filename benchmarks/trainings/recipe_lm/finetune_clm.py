"""Train a small GPT-2 from scratch on tokenised recipes with the Hugging Face Trainer."""
import math
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

INGREDIENTS = ["flour", "sugar", "butter", "eggs", "milk", "salt", "rice", "beans", "tomato", "onion", "garlic", "oil"]
VERBS = ["mix", "heat", "chop", "fry", "boil", "bake"]
UNITS = ["cup", "spoon", "gram"]
SPECIAL = ["<pad>", "<bos>", "<eos>", "then", "the", "one", "two", "three", "of", "and", "serve"]
WORDS = SPECIAL + INGREDIENTS + VERBS + UNITS
TOK = {w: i for i, w in enumerate(WORDS)}


def write_recipe(rng):
    items = rng.choice(INGREDIENTS, size=3, replace=False)
    words = ["<bos>"]
    for it in items:
        words += [str(rng.choice(["one", "two", "three"])), str(rng.choice(UNITS)), "of", str(it)]
    for it in items:  # the steps use the ingredients in the order of the list
        words += ["then", VERBS[INGREDIENTS.index(it) % len(VERBS)], "the", str(it)]
    return words + ["and", "serve", "<eos>"]


class RecipeDataset(Dataset):
    def __init__(self, n, seed, max_len=32):
        rng = np.random.default_rng(seed)
        self.rows = []
        for _ in range(n):
            ids = [TOK[w] for w in write_recipe(rng)][:max_len]
            ids += [TOK["<pad>"]] * (max_len - len(ids))
            self.rows.append(ids)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids = torch.tensor(self.rows[i])
        inputs, labels = ids[:-1], ids[1:].clone()
        labels[labels == TOK["<pad>"]] = -100
        return {
            "input_ids": inputs,
            "attention_mask": (inputs != TOK["<pad>"]).long(),
            "labels": labels,
        }


class PrintEval(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kw):
        loss = metrics["eval_loss"]
        print(f"epoch {state.epoch:.0f}  eval loss {loss:.4f}  perplexity {math.exp(loss):.2f}")


@torch.no_grad()
def next_word_accuracy(model, dataset):
    """Share of the step words (after the ingredient list) that greedy decoding gets right, one word ahead."""
    model.eval()
    ids = torch.tensor(dataset.rows)
    guess = model(input_ids=ids).logits[:, :-1].argmax(-1)
    truth = ids[:, 1:]
    region = torch.zeros_like(truth, dtype=torch.bool)
    region[:, 12:27] = True
    return (guess[region] == truth[region]).float().mean().item()


def main():
    set_seed(11)
    config = GPT2Config(
        vocab_size=len(WORDS), n_positions=32, n_embd=64, n_layer=2, n_head=4,
        bos_token_id=TOK["<bos>"], eos_token_id=TOK["<eos>"], pad_token_id=TOK["<pad>"],
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )
    model = GPT2LMHeadModel(config)
    train, dev = RecipeDataset(1600, seed=1), RecipeDataset(200, seed=2)
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out,
            num_train_epochs=6,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=100,
            learning_rate=3e-3,
            warmup_steps=20,
            lr_scheduler_type="cosine",
            weight_decay=0.01,
            eval_strategy="epoch",
            save_strategy="no",
            logging_steps=50,
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            seed=11,
        )
        trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=dev, callbacks=[PrintEval()])
        trainer.train()
    print(f"next-word accuracy in the steps: {next_word_accuracy(model, dev):.3f}")


if __name__ == "__main__":
    main()
