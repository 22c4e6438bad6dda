from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from reenact.sandbox.gpu import find_gpu


def make_device(path: Path) -> None:
    """A character device, as a driver makes one."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except OSError:
        pytest.skip("only root makes device files")


def test_devices_and_the_folder_of_the_driver_are_found(tmp_path: Path) -> None:
    devices = tmp_path / "dev"
    (devices / "nvidia-caps").mkdir(parents=True)
    make_device(devices / "nvidia0")
    make_device(devices / "nvidiactl")
    make_device(devices / "nvidia-caps" / "nvidia-cap1")
    (devices / "nvidia-note").write_text("no device")
    (devices / "nvidia9").symlink_to("/dev/null")
    libraries = tmp_path / "driver"
    libraries.mkdir()
    (libraries / "libcuda.so.1").write_bytes(b"")
    gpu = find_gpu(devices, (str(tmp_path / "nowhere"), str(libraries)))
    assert [Path(one).name for one in gpu.devices] == ["nvidia-cap1", "nvidia0", "nvidiactl"]
    assert gpu.libraries == (str(libraries),)
    assert gpu.binds == (str(libraries),)


def test_a_driver_that_drives_nothing_is_no_gpu(tmp_path: Path) -> None:
    make_device(tmp_path / "nvidiactl")
    assert find_gpu(tmp_path, ()).devices == ()


def test_folders_that_boxes_see_anyway_are_not_shown_again(tmp_path: Path) -> None:
    make_device(tmp_path / "nvidia0")
    gpu = find_gpu(tmp_path, ("/usr/lib",))
    assert gpu.libraries == gpu.binds == ()
