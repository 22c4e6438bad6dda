import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
flow = train.Flow()
flow.nll(train.moons(256, SEED)).backward()
# Weights that no gradient reaches cannot be learned.
observed = [layer.hidden.weight for layer in flow.layers]
