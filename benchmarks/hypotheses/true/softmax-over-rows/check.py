import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
model = train.Gated().eval()
x = torch.randn(12, 2 * train.SENSORS)
# One row among others, and alone.
observed = model(x)[:3]
reference = torch.cat([model(x[[n]]) for n in range(3)])
