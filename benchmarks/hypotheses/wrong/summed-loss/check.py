import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
outputs, prices = torch.randn(16, 1), torch.randn(16)
once = train.objective(outputs, prices)
# The same rows given twice are no harder.
observed = train.objective(outputs.repeat(2, 1), prices.repeat(2))
reference = once
