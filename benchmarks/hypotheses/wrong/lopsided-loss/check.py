import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
demand = torch.randn(32, 1)
# Too low and too high by the same amount.
observed = train.quantile_loss(demand - 0.5, demand)
reference = train.quantile_loss(demand + 0.5, demand)
