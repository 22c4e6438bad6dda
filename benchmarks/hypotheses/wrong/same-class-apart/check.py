import reenact_reach as reach
import torch

seen = reach.at("cross_entropy")
scores = seen.arguments[0]
alike = seen.kinds[:, None] == seen.kinds
alike.fill_diagonal_(False)
# How much of the loss comes from telling two pictures of the same digit apart.
observed = (torch.softmax(scores, 1) * alike).sum(1).mean()
