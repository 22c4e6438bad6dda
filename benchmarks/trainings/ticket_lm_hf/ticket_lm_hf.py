"""Train a tiny GPT-2 from a config with the HF Trainer on support-ticket codes.

Each ticket is: <product> <symptom> <symptom> -> <team> <priority> with a fixed rule behind it.
"""
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

PRODUCTS, SYMPTOMS, TEAMS, PRIOS = 6, 8, 6, 3
BOS, ARROW, EOS = 0, 1, 2
OFF_P = 3
OFF_S = OFF_P + PRODUCTS
OFF_T = OFF_S + SYMPTOMS
OFF_PR = OFF_T + TEAMS
VOCAB = OFF_PR + PRIOS


def ticket(g):
    p = torch.randint(PRODUCTS, (1,), generator=g).item()
    s1, s2 = torch.randint(SYMPTOMS, (2,), generator=g).tolist()
    team = p if s1 > 1 else 0        # symptoms 0 and 1 go to the first team
    prio = s2 % PRIOS
    return [BOS, OFF_P + p, OFF_S + s1, OFF_S + s2, ARROW, OFF_T + team, OFF_PR + prio, EOS]


class Tickets(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = [ticket(g) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids = torch.tensor(self.rows[i])
        return {"input_ids": ids[:-1], "labels": ids[1:]}


def routing_accuracy(model, rows):
    model.eval()
    prompts = torch.tensor([r[:5] for r in rows])
    with torch.no_grad():
        for _ in range(2):
            logits = model(prompts).logits
            prompts = torch.cat([prompts, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    want = torch.tensor([r[5:7] for r in rows])
    return (prompts[:, 5:7] == want).all(1).float().mean().item()


def main():
    set_seed(42)
    train, held_out = Tickets(3000, 0), Tickets(400, 1)
    config = GPT2Config(
        vocab_size=VOCAB, n_positions=16, n_embd=64, n_layer=2, n_head=4,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=BOS, eos_token_id=EOS,
    )
    model = GPT2LMHeadModel(config)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=10,
        per_device_train_batch_size=64,
        learning_rate=3e-3,
        lr_scheduler_type="cosine",
        warmup_steps=20,
        logging_steps=50,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=held_out)
    trainer.train()
    print({k: round(v, 4) for k, v in trainer.evaluate().items() if k == "eval_loss"})
    print(f"tickets routed with the right team and priority: {routing_accuracy(model, held_out.rows):.3f}")


if __name__ == "__main__":
    main()
