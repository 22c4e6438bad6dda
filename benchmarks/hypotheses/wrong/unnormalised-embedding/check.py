import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
model = train.Towers()
readers, books = model(torch.arange(20), torch.arange(20))
# Their product is a similarity where neither is longer than the other.
observed = torch.cat([readers, books]).norm(dim=1)
reference = torch.ones(40)
