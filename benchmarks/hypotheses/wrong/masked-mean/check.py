import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
words = torch.randint(1, train.VOCABULARY, (2, train.LONGEST))
words[1, 4:] = train.PAD
tags = torch.randint(0, train.TAGS, words.shape)
outputs = torch.randn(2, train.LONGEST, train.TAGS)
alone = [train.tagging_loss(outputs[[n]], tags[[n]], words[[n]]) for n in (0, 1)]
# A short and a long sentence have the same say.
observed = train.tagging_loss(outputs, tags, words)
reference = (alone[0] + alone[1]) / 2
