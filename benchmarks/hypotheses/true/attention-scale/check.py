import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
query, keys, values = torch.randn(4, 2, 16), torch.randn(4, 5, 16), torch.randn(4, 5, 16)
# The same by the library.
observed = train.attended(query, keys, values)
reference = torch.nn.functional.scaled_dot_product_attention(query, keys, values)
