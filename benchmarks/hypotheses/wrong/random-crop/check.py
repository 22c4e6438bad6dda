import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
crops = train.Crops(*train.pictures(20, SEED))
# One row, asked for several times.
observed = [crops[3][1].sum() for _ in range(6)]
reference = [observed[0]] * 6
