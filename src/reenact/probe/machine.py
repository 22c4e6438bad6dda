"""What a program can see of the machine that decides how it computes: cores, and devices that
compute.

Cores: how many there are, how many this process may use, and the share of them that a container
gets. Devices: those of NVIDIA by name, as their driver states it, those of AMD by their files.
Memory does not count, nor what changes from minute to minute.
"""

from __future__ import annotations

import os
from pathlib import Path

_DRIVER = Path("/proc/driver/nvidia")
_DEVICES = Path("/dev")
_PATTERNS = ("nvidia[0-9]*", "nvidia-caps/*", "kfd", "dri/renderD*", "accel*")
_GROUPS = Path("/sys/fs/cgroup")
_QUOTAS = ("cpu.max", "cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")


def machine() -> dict[str, str]:
    """What a training may see of it, as inputs of a step."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return {
        "cores": str(os.cpu_count()),
        "usable cores": str(len(usable)),
        "share of the cores": " ".join(_read(path) for path in _quota_files()),
        "driver": _read(_DRIVER / "version"),
        "devices": " ".join([*_models(), *_nodes()]),
    }


def _quota_files() -> list[Path]:
    """Of the group of this process, and of the root that a container sees."""
    groups = [_GROUPS]
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        own = line.rpartition(":")[2].strip("/")
        groups += [_GROUPS / own] if line.startswith("0::") and own else []
    return [group / name for group in groups for name in _QUOTAS]


def _models() -> list[str]:
    """Names of the cards, in the order of the bus."""
    lines = [_read(path).splitlines() for path in sorted(_DRIVER.glob("gpus/*/information"))]
    return [
        line.partition(":")[2].strip()
        for card in lines
        for line in card
        if line.startswith("Model:")
    ]


def _nodes() -> list[str]:
    found = [path for pattern in _PATTERNS for path in _DEVICES.glob(pattern)]
    return sorted(str(path.relative_to(_DEVICES)) for path in found)


def _read(path: Path) -> str:
    """Empty where there is no such file, or we may not read it."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
