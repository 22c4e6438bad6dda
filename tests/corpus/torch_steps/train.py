"""No epochs: a number of steps, batches drawn at random, gradients gathered over several of them."""
import torch
from torch import nn

max_iters = 40
eval_interval = 20
eval_iters = 5
batch_size = 16
accumulation_steps = 2
block_size = 8
n_embd = 12
learning_rate = 1e-2
grad_clip = 1.0

torch.manual_seed(1337)

text = "the quick brown fox jumps over the lazy dog. " * 20
chars = sorted(set(text))
vocab_size = len(chars)
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
n = int(0.9 * len(data))
train_data, val_data = data[:n], data[n:]


def get_batch(split):
    source = train_data if split == "train" else val_data
    ix = torch.randint(len(source) - block_size, (batch_size,))
    x = torch.stack([source[i : i + block_size] for i in ix])
    y = torch.stack([source[i + 1 : i + block_size + 1] for i in ix])
    return x, y


class CharModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, n_embd)
        self.rnn = nn.RNN(n_embd, 24, nonlinearity="tanh", batch_first=True)
        self.lm_head = nn.Linear(24, vocab_size)

    def forward(self, idx, targets):
        logits = self.lm_head(self.rnn(self.tok(idx))[0])
        loss = nn.functional.cross_entropy(logits.view(-1, vocab_size), targets.view(-1))
        return logits, loss


@torch.no_grad()
def estimate_loss(model):
    model.eval()
    out = {s: torch.stack([model(*get_batch(s))[1] for _ in range(eval_iters)]).mean().item() for s in ("train", "val")}
    model.train()
    return out


model = CharModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
step = 0
while step < max_iters:
    if step % eval_interval == 0:
        losses = estimate_loss(model)
        print(f"step {step}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
    optimizer.zero_grad(set_to_none=True)
    for _ in range(accumulation_steps):
        logits, loss = model(*get_batch("train"))
        (loss / accumulation_steps).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    step += 1
print(f"step {step}: val loss {estimate_loss(model)['val']:.4f}")
