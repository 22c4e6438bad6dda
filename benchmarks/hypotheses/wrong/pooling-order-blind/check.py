import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
reader = train.Reader()
hidden = torch.randn(4, train.LENGTH, train.WIDTH)
# Whether what the head gets depends on the order of the words.
observed = reader.pool(hidden)
reference = reader.pool(hidden.flip(1))
