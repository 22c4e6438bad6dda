from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from reenact.sandbox.box import Command, Limits
from reenact.sandbox.gpu import Gpu, find_gpu
from reenact.sandbox.tiers.bubblewrap import Bubblewrap
from reenact.sandbox.tiers.bubblewrap_gpu import NO_GPU, BubblewrapGpu

LOOK = """
import os
print(os.path.exists(DEVICE), os.environ.get("LD_LIBRARY_PATH"), os.listdir(LIBRARIES))
with open(DEVICE, "r+b", buffering=0) as device:
    print(device.write(b"abc"))
"""
CUDA = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int()
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
print(count.value, "devices")
"""


def test_the_device_is_written_to_and_the_driver_is_in_view(tmp_path: Path) -> None:
    tier = Bubblewrap()
    if tier.missing():
        pytest.skip("bubblewrap does not work here")
    device = tmp_path / "nvidia0"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.chmod(0o666)
    except OSError:
        pytest.skip("only root makes device files")
    libraries = tmp_path / "driver"
    libraries.mkdir()
    (libraries / "libcuda.so.1").write_bytes(b"")
    shown = Gpu((str(device),), (str(libraries),))
    look = LOOK.replace("DEVICE", repr(str(device))).replace("LIBRARIES", repr(str(libraries)))
    command = Command(("python3", "look.py"), files={"look.py": look.encode()})
    seen = BubblewrapGpu(shown=shown).run(command, Limits())
    assert seen.output.split() == ["True", str(libraries), "['libcuda.so.1']", "3"], seen
    assert seen.tier == "bubblewrap-gpu"
    assert not tier.run(command, Limits()).ok


def test_what_it_does_not_stop_is_more_than_usual() -> None:
    more = set(BubblewrapGpu().does_not_stop()) - set(Bubblewrap().does_not_stop())
    assert len(more) == 3
    assert all("GPU" in one for one in more)


def test_without_a_gpu_it_does_not_work() -> None:
    assert BubblewrapGpu(shown=Gpu()).missing() == NO_GPU
    assert "libcuda.so.1" in BubblewrapGpu(shown=Gpu(("/dev/nvidia0",))).missing()


def test_a_program_finds_the_gpu_of_this_machine() -> None:
    tier = BubblewrapGpu()
    if not find_gpu().devices or tier.missing():
        pytest.skip("no GPU here")
    command = Command(("python3", "look.py"), files={"look.py": CUDA.encode()})
    assert "devices" in tier.run(command, Limits()).output
    assert not Bubblewrap().run(command, Limits()).ok
