"""Intent detection on generated voice-assistant commands with the Hugging Face Trainer (BERT from scratch)."""
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, Trainer, TrainerCallback, TrainingArguments, set_seed

from modeling import IntentModel

INTENTS = {
    "lights_on": ["switch on the {r} light", "make the {r} brighter please", "light up the {r}"],
    "lights_off": ["switch off the {r} light", "make the {r} darker please", "no light in the {r}"],
    "heat_up": ["warm up the {r}", "it is cold in the {r}", "set the {r} to {n} degrees more"],
    "cool_down": ["cool the {r}", "it is hot in the {r}", "set the {r} to {n} degrees less"],
    "music": ["play {s} in the {r}", "put on {s} please", "{s} from the {r} speaker"],
    "stop_music": ["stop {s} in the {r}", "no more {s} please", "mute the {r} speaker"],
    "timer": ["wake me in {n} minutes", "set a timer for {n} minutes", "remind me in {n} minutes please"],
    "cancel_timer": ["cancel the {n} minutes timer", "forget the {n} minutes", "do not wake me in {n} minutes"],
}
ROOMS = "kitchen bathroom hall bedroom office garage cellar attic".split()
SONGS = "jazz rock radio opera techno blues folk".split()
NUMBERS = "two three five ten twenty thirty".split()
FILLER = "um hey ok well so now then listen computer".split()
LABELS = list(INTENTS)


def utterance(rng):
    y = rng.randrange(len(LABELS))
    text = rng.choice(INTENTS[LABELS[y]]).format(r=rng.choice(ROOMS), s=rng.choice(SONGS), n=rng.choice(NUMBERS))
    words = text.split()
    for _ in range(rng.randint(0, 3)):
        words.insert(rng.randint(0, len(words)), rng.choice(FILLER))
    return words, y


class Commands(Dataset):
    def __init__(self, n, seed, vocab=None):
        rng = random.Random(seed)
        self.items = [utterance(rng) for _ in range(n)]
        self.vocab = vocab or {w: i + 2 for i, w in enumerate(sorted({w for ws, _ in self.items for w in ws}))}

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        words, label = self.items[i]
        return {"input_ids": [self.vocab.get(w, 1) for w in words], "labels": label}


def collate(features):
    width = max(len(f["input_ids"]) for f in features)
    ids = torch.tensor([f["input_ids"] + [0] * (width - len(f["input_ids"])) for f in features])
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": torch.tensor([f["labels"] for f in features])}


def compute_metrics(pred):
    top = np.argmax(pred.predictions, axis=-1)
    return {"accuracy": float((top == pred.label_ids).mean())}


class Printer(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"epoch {state.epoch:.0f}  eval_loss {metrics['eval_loss']:.4f}  eval_accuracy {metrics['eval_accuracy']:.4f}")


def main():
    set_seed(13)
    train_set = Commands(1200, seed=0)
    eval_set = Commands(400, seed=1, vocab=train_set.vocab)
    config = BertConfig(
        vocab_size=len(train_set.vocab) + 2, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=32, num_labels=len(LABELS), hidden_dropout_prob=0.1,
    )
    args = TrainingArguments(
        output_dir="/tmp/intent_out", num_train_epochs=8, per_device_train_batch_size=32, per_device_eval_batch_size=100,
        learning_rate=1e-3, warmup_steps=30, lr_scheduler_type="linear", weight_decay=0.01, eval_strategy="epoch",
        save_strategy="no", logging_strategy="epoch", report_to=[], disable_tqdm=True, use_cpu=True, seed=13,
    )
    trainer = Trainer(
        model=IntentModel(config), args=args, train_dataset=train_set, eval_dataset=eval_set,
        data_collator=collate, compute_metrics=compute_metrics, callbacks=[Printer()],
    )
    trainer.train()


if __name__ == "__main__":
    main()
