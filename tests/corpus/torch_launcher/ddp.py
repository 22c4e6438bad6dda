"""Data-parallel training, started by torchrun; one process is enough."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

GLOBAL_BATCH = 40


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)

    x = torch.randn(320, 6)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0], [3.0], [1.5]])
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, num_replicas=world, rank=rank, shuffle=True, seed=5)
    loader = DataLoader(data, batch_size=GLOBAL_BATCH // world, sampler=sampler)

    net = nn.Sequential(nn.Linear(6, 18), nn.Mish(), nn.Linear(18, 1))
    model = DistributedDataParallel(net)
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

    for epoch in range(4):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} mse {loss.item():.4f}", flush=True)
    if rank == 0:
        print("local rank", os.environ["LOCAL_RANK"], "done")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
