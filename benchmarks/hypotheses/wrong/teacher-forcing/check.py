import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
model = train.Translator()
source, target = train.strings(16, SEED)
# One source, two things that might be the answer: where the answer is read, the outputs tell.
observed = model(source, target)
reference = model(source, (target + 1) % train.DIGITS)
