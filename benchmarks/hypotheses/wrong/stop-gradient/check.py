import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
prediction = torch.randn(8, train.WIDTH, requires_grad=True)
target = torch.randn(8, train.WIDTH, requires_grad=True)
train.similarity_loss(prediction, target).backward()
# Both views are encoded by the network that learns.
observed = [prediction, target]
