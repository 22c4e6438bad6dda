"""The GPU of this machine as a box may see it: its device files, and where the driver's libraries lie.

Only NVIDIA's. Covered: what is shown is looked up on this machine, and never named by a program.
Not covered: whatever a program does to the driver, which it calls directly.
"""

import stat
from dataclasses import dataclass
from pathlib import Path

from reenact.sandbox.view import host_view

DEVICES = Path("/dev")
LIBRARY = "libcuda.so.1"
DRIVER_FOLDERS = (
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
)
"""Where drivers put the library by which programs call them, across distributions."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """What must be shown for a program to use the GPU."""

    devices: tuple[str, ...] = ()
    """Device files; empty where there is no GPU."""
    libraries: tuple[str, ...] = ()
    """Folders with the driver's libraries."""

    @property
    def binds(self) -> tuple[str, ...]:
        """The folders of libraries that boxes do not see anyway."""
        shown = [Path(target) for _, target in host_view().binds]
        return tuple(
            folder
            for folder in self.libraries
            if not any(Path(folder).is_relative_to(one) for one in shown)
        )


def find_gpu(
    devices: Path = DEVICES,
    folders: tuple[str, ...] = DRIVER_FOLDERS,
) -> Gpu:
    """The GPU of this machine; one without devices where there is none."""
    found = (path for path in sorted(devices.iterdir()) if path.name.startswith("nvidia"))
    named = (one for path in found for one in _character_devices(path))
    libraries = (folder for folder in folders if (Path(folder) / LIBRARY).exists())
    nodes = tuple(str(path) for path in named)
    # Without one that is numbered there is a driver, and nothing that it drives.
    if not any(Path(node).name.removeprefix("nvidia").isdigit() for node in nodes):
        return Gpu()
    return Gpu(nodes, tuple(dict.fromkeys(libraries)))


def _character_devices(path: Path) -> list[Path]:
    """The device files at a path: itself, or those of a folder such as /dev/nvidia-caps."""
    if path.is_symlink():
        return []
    if path.is_dir():
        return [one for inner in sorted(path.iterdir()) for one in _character_devices(inner)]
    return [path] if stat.S_ISCHR(path.stat().st_mode) else []
