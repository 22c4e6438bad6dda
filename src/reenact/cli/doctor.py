"""`reenact doctor`: what works on this machine, what is missing, and the one step that fixes each problem."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reenact.cli.health import existing, problems
from reenact.cli.options import output_format, show
from reenact.report.document import Block, Document, Facts, Level
from reenact.settings import Settings, resolve
from reenact.types import ExitCode, JsonValue, Table
from reenact.version import __version__

if TYPE_CHECKING:
    from reenact.sandbox.choose import TierReport

PACKAGES = {"torch": "torch", "keras": "keras", "uv": "uv", "openai": "models", "anthropic": "models"}
"""Optional packages and the extra that brings each."""
PROGRAMS = ("git", "gcc", "bwrap", "docker", "podman")


@click.command()
@output_format
def doctor(output_format: str) -> ExitCode:
    """Tell what works on this machine and what to fix.

    Exit code 0 when all is well, 1 when something is to fix.
    """
    from reenact.sandbox.choose import describe

    settings = resolve().settings
    tiers = describe()
    notices = tuple(problems(settings))
    to_fix = sum(notice.level is not Level.NOTE for notice in notices)
    document = Document(
        kind="doctor",
        title=f"reenact {__version__} on this machine",
        verdict=f"{to_fix} to fix; the next step stands with each." if to_fix else "All is well.",
        blocks=(*_machine_blocks(settings), *_sandbox_blocks(tiers)),
        diagnostics=notices,
        data=_data(settings, tiers),
    )
    show(document, output_format)
    return ExitCode.FOUND if to_fix else ExitCode.OK


def _machine_blocks(settings: Settings) -> tuple[Block, ...]:
    from reenact.llm.names import keys_present

    keys = ", ".join(name for name, there in keys_present().items() if there) or "none"
    packages = ((name, _version(name) or _how_to_get(name)) for name in PACKAGES)
    return (
        Facts("Machine", tuple(_machine().items())),
        Facts("Models", (("chosen", settings.model or "none"), ("keys set", keys))),
        Facts("Programs", tuple((name, shutil.which(name) or "not found") for name in PROGRAMS)),
        Facts("Packages", tuple(packages)),
    )


def _sandbox_blocks(tiers: tuple[TierReport, ...]) -> tuple[Block, ...]:
    def state(tier: TierReport) -> str:
        return "used by default" if tier.chosen else "works" if tier.works else "missing"

    rows = tuple((tier.name, state(tier), tier.missing or "; ".join(tier.in_force) or "-") for tier in tiers)
    holes = tuple((tier.name, "; ".join(tier.does_not_stop)) for tier in tiers if tier.works)
    return (
        Table("Sandbox", ("tier", "", "in force, or what is missing"), rows),
        Facts("What a tier does not stop", holes),
    )


def _data(settings: Settings, tiers: tuple[TierReport, ...]) -> JsonValue:
    from reenact.llm.names import keys_present

    return {
        "reenact": __version__,
        "machine": _machine(),
        "sandbox": [dataclasses.asdict(tier) for tier in tiers],
        "model": settings.model,
        "keys_set": keys_present(),
        "programs": {name: shutil.which(name) for name in PROGRAMS},
        "packages": {name: _version(name) for name in PACKAGES},
        "free_disk_bytes": shutil.disk_usage(existing(settings.runs_dir)).free,
    }


def _machine() -> dict[str, str]:
    import psutil

    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 1024**3:.0f} GiB",
        "free disk": f"{shutil.disk_usage(Path.cwd()).free / 1024**3:.0f} GiB",
        "gpu": ", ".join(_gpus()) or "none found",
    }


def _gpus() -> tuple[str, ...]:
    """Names that the driver's own tool lists; torch is not imported for this."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    argv = [tool, "--query-gpu=name", "--format=csv,noheader"]
    asked = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
    return tuple(asked.stdout.splitlines()) if asked.returncode == 0 else ()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _how_to_get(package: str) -> str:
    return f"missing: pip install 'reenact[{PACKAGES[package]}]'"
