# /// case
# id = "B02"
# title = "distributed training on loopback"
# does = "averages gradients of two processes by DistributedDataParallel and gloo over 127.0.0.1"
# limits = { wall_s = 120, memory_mib = 4096, disk_mib = 512, processes = 256 }
# needs = ["torch"]
# endings = ["ok"]
# ///
import os

import torch
import torch._dynamo  # here once, before both processes would import it
import torch.distributed as dist

torch.set_num_threads(1)
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", GLOO_SOCKET_IFNAME="lo")
child = os.fork()
rank = 0 if child else 1
dist.init_process_group("gloo", rank=rank, world_size=2)
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
model(torch.full((8, 4), float(rank + 1))).sum().backward()
assert torch.allclose(model.module.weight.grad, torch.full((1, 4), 12.0)), model.module.weight.grad
dist.barrier()
dist.destroy_process_group()
if child == 0:
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
print("BENIGN done")
