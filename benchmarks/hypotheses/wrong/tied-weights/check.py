import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
model = train.Speller()
hidden = torch.randn(4, train.WIDTH)
with torch.no_grad():
    reference = model.head(hidden)
    model.embed.weight.add_(1.0)
    # What is written, after a change of what is read.
    observed = model.head(hidden)
