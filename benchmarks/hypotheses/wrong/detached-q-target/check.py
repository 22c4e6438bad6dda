import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
states, actions, rewards, after, done = train.transitions(64, torch.Generator().manual_seed(SEED))
network = torch.nn.Linear(train.CELLS, 2)
after.requires_grad_()
train.td_loss(network, states, actions, rewards, after, done).backward()
# The loss depends on what the network says of the next cell.
observed = [after]
