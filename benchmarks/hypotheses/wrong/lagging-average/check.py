import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
generator, average = train.network(4, 2), train.network(4, 2)
for _ in range(20):
    train.follow(average, generator)
noise = torch.randn(16, 4)
# After many steps the network that draws samples is the one that was trained.
observed = average(noise)
reference = generator(noise)
