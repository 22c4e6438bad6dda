import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
outputs, images = torch.randn(8, 64), torch.rand(8, 64)
mean, log_variance = torch.randn(8, train.CODE), torch.randn(8, train.CODE)
once = train.elbo_loss(outputs, images, mean, log_variance)
# A picture of twice as many pixels, and a code of twice as many numbers.
large = [one.repeat(1, 2) for one in (outputs, images, mean, log_variance)]
observed = train.elbo_loss(*large)
reference = once
