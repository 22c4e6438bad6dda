import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
logits = torch.randn(32, train.OFFERS)
actions = torch.randint(0, train.OFFERS, (32,))
# What the distribution itself says of the actions drawn from it.
observed = train.log_chances(logits, actions)
reference = torch.distributions.Categorical(logits=logits).log_prob(actions)
