"""Graph attention on one graph of linked pages: all nodes are in every pass, only the labelled ones in the loss."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(66)
TOPICS, PAGES, WORDS = 4, 600, 50


def web():
    topic = torch.randint(0, TOPICS, (PAGES,))
    favoured = (torch.rand(TOPICS, WORDS) < 0.15).float()
    words = (torch.rand(PAGES, WORDS) < 0.06 + 0.10 * favoured[topic]).float()
    same = topic.unsqueeze(0) == topic.unsqueeze(1)
    chance = torch.where(same, 0.016, 0.0015)
    links = torch.rand(PAGES, PAGES) < chance
    links = links | links.T
    links.fill_diagonal_(True)
    return words, links, topic


class AttentionLayer(nn.Module):
    def __init__(self, inputs, outputs, heads, join):
        super().__init__()
        self.heads, self.outputs, self.join = heads, outputs, join
        self.map = nn.Linear(inputs, heads * outputs, bias=False)
        self.source = nn.Parameter(torch.randn(heads, outputs) * 0.1)
        self.target = nn.Parameter(torch.randn(heads, outputs) * 0.1)

    def forward(self, x, links):
        h = self.map(x).view(len(x), self.heads, self.outputs)
        score = (h * self.source).sum(-1).unsqueeze(1) + (h * self.target).sum(-1).unsqueeze(0)
        score = F.leaky_relu(score, 0.2).masked_fill(~links.unsqueeze(-1), float("-inf"))
        weight = F.dropout(score.softmax(dim=1), 0.5, self.training)
        out = torch.einsum("ijh,jho->iho", weight, h)
        return out.flatten(1) if self.join else out.mean(1)


class GAT(nn.Module):
    """Dropout 0.6 on inputs and 0.5 on attention, as in the paper: 20 labels a class invite overfitting."""

    def __init__(self):
        super().__init__()
        self.one = AttentionLayer(WORDS, 8, 4, join=True)
        self.two = AttentionLayer(32, TOPICS, 1, join=False)

    def forward(self, x, links):
        x = F.dropout(x, 0.6, self.training)
        x = F.elu(self.one(x, links))
        return self.two(F.dropout(x, 0.6, self.training), links)


words, links, topic = web()
labelled = torch.cat([torch.where(topic == c)[0][:20] for c in range(TOPICS)])
rest = torch.ones(PAGES, dtype=torch.bool)
rest[labelled] = False

model = GAT()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(1, 61):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(words, links)[labelled], topic[labelled])
    loss.backward()
    optimizer.step()
    if epoch % 12 == 0:
        model.eval()
        with torch.no_grad():
            out = model(words, links)
        acc = (out[rest].argmax(1) == topic[rest]).float().mean().item()
        # The training loss stays high under that much dropout; accuracy is measured without it.
        print(f"epoch {epoch:3d} loss {loss.item():.3f} accuracy on unlabelled pages {acc:.3f}")
