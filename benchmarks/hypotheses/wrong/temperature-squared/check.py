import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
student, teacher = torch.randn(16, 10), torch.randn(16, 10)
wanted = torch.softmax(teacher / train.TEMPERATURE, 1)
given = torch.softmax(student / train.TEMPERATURE, 1)
# The divergence by its definition.
divergence = (wanted * (wanted / given).log()).sum(1)
observed = train.soft_loss(student, teacher)
reference = divergence.mean()
