# /// case
# id = "B01"
# title = "DataLoader workers with shared memory"
# does = "trains one epoch on batches that two worker processes pass through /dev/shm"
# limits = { wall_s = 120, memory_mib = 4096, disk_mib = 512, processes = 256 }
# needs = ["torch"]
# endings = ["ok"]
# ///
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
features = torch.randn(256, 3, 32, 32)
labels = (features.mean(dim=(1, 2, 3)) > 0).long()
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 2))
optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
seen = 0
for batch, target in DataLoader(TensorDataset(features, labels), batch_size=32, num_workers=2):
    assert batch.is_shared(), "the batch did not come through shared memory"
    loss = torch.nn.functional.cross_entropy(model(batch), target)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    seen += len(batch)
assert seen == 256
print("BENIGN done")
