import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
backbone = train.Backbone()
images, classes = torch.rand(64, 1, 8, 8), torch.randint(0, 5, (64,))
reference = [one.clone() for one in backbone.buffers()]
train.finetune(backbone, torch.nn.Linear(256, 5), images, classes, epochs=2)
# The data to which it is fitted are others than those it comes from.
observed = list(backbone.buffers())
