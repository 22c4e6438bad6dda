import reenact_reach as reach
import torch

seen = reach.until("print(f'test accuracy")
with torch.no_grad():
    loss = torch.nn.functional.cross_entropy(seen.kept(seen.val_images), seen.val_classes)
# The network that is kept, on the rows by which it was chosen.
observed = loss
reference = min(seen.history)
