import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
model = train.Reader().eval()
words = torch.randint(1, train.VOCABULARY, (8, 10))
padded = torch.cat([words, torch.full((8, 5), train.PAD)], 1)
# Padding at the end of a review says nothing about it.
observed = model(padded)
reference = model(words)
