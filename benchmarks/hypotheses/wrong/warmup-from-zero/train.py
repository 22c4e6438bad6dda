"""The topic of short headlines, by a small transformer with a warm-up."""

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, LENGTH, WIDTH, TOPICS = 120, 10, 32, 4
BATCH_SIZE, EPOCHS, WARMUP = 64, 6, 20
torch.manual_seed(0)
generator = torch.Generator().manual_seed(5)
habits = torch.softmax(1.1 * torch.randn(TOPICS, VOCABULARY, generator=generator), 1)


def headlines(rows):
    topics = torch.randint(0, TOPICS, (rows,), generator=generator)
    return torch.multinomial(habits[topics], LENGTH, replacement=True, generator=generator), topics


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.block = nn.TransformerEncoderLayer(WIDTH, 4, 64, dropout=0.1, batch_first=True)
        self.head = nn.Linear(WIDTH, TOPICS)

    def forward(self, words):
        return self.head(self.block(self.embed(words)).mean(1))


words, topics = headlines(1500)
test_words, test_topics = headlines(600)
model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda taken: min(1.0, taken / WARMUP)
)

for epoch in range(EPOCHS):
    model.train()
    for rows in torch.randperm(len(words)).split(BATCH_SIZE):
        loss = functional.cross_entropy(model(words[rows]), topics[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(test_words).argmax(1) == test_topics).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy:.4f}")
