"""A folder of tiny packages instead of an index, and prepared environments by each installer
there is.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from reenact.errors import MissingPart
from reenact.sandbox.environments.install import find_installer
from reenact.sandbox.environments.prepare import Environments

_SPEC = importlib.util.spec_from_file_location("packages", Path(__file__).with_name("packages.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
packages = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(packages)


def installers() -> list[str]:
    found = []
    for name in ("uv", "pip"):
        try:
            found.append(find_installer(prefer=name).name)
        except MissingPart:
            continue
    return found


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "links"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    packages.wheel(folder, "tinyalpha", "1.0", requires=("tinybeta>=1",))
    packages.wheel(folder, "tinybeta", "1.2")
    return folder


@pytest.fixture(params=installers())
def each(request: pytest.FixtureRequest, tmp_path: Path, links: Path) -> Environments:
    """Environments by each installer there is; the slower one is not needed in every test."""
    return Environments(tmp_path / "cache", installer=find_installer(prefer=request.param))


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.slow if number else ())
        for number, name in enumerate(installers())
    ]
)
def each_slowly(request: pytest.FixtureRequest, tmp_path: Path, links: Path) -> Environments:
    """As `each`, for what a cheaper test shows of the slower installer too: its turn is `make
    test-slow`.
    """
    return Environments(tmp_path / "cache", installer=find_installer(prefer=request.param))
