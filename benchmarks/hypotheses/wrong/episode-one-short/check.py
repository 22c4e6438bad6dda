import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
chances, rewards, length, arrived = train.episode(train.Policy())
observed = length
reference = len(chances)
