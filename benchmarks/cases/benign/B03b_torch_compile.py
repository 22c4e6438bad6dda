# /// case
# id = "B03b"
# title = "torch.compile"
# does = "compiles a function by inductor, its cache in HOME and in /tmp, and runs it"
# limits = { wall_s = 240, memory_mib = 4096, disk_mib = 512, processes = 256 }
# needs = ["torch", "compiler"]
# slow = true
# endings = ["ok"]
# ///
import torch


@torch.compile
def wave(x):
    return torch.sin(x) * 2 + x.cos()


x = torch.linspace(0, 1, 64)
assert torch.allclose(wave(x), torch.sin(x) * 2 + x.cos(), atol=1e-5)
print("BENIGN done")
