import reenact_reach as reach
import torch

program = reach.module()
model = program.Classifier()
short = torch.tensor([[3, 14, 15]])
padded = torch.tensor([[3, 14, 15, 0, 0, 0]])
observed = model(padded).detach()
reference = model(short).detach()
