import reenact_reach as reach
import torch

train = reach.module()
series = torch.arange(40.0)
inputs, targets = train.windows(series)
# By how many hours what is asked lies behind the last one that is shown.
observed = (targets - inputs[:, -1]).min()
