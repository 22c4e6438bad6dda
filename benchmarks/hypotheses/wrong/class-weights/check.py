import reenact_reach as reach
import torch

seen = reach.until("for epoch in range(EPOCHS)")
missed = torch.tensor([[3.0, 0.0], [3.0, 0.0]])
stopped = torch.tensor([[0.0, 3.0], [0.0, 3.0]])
# A payment of each class: once the fraud is missed, once the other one is stopped.
observed = seen.criterion(missed, torch.tensor([1, 0]))
reference = seen.criterion(stopped, torch.tensor([1, 0]))
