import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
times = train.draw_times(5000)
# Every entry of the table of what is left should be drawn at some time.
observed = len(set(times.tolist()))
reference = len(train.LEFT)
