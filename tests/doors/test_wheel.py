"""The wheel: built without a network, with everything the package reads at run time and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from reenact.version import __version__

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "reenact"
pytest.importorskip("hatchling")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    ended = subprocess.run(
        [sys.executable, "-c", build, str(folder)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return zipfile.ZipFile(folder / ended.stdout.split()[-1])


def packed(wheel: zipfile.ZipFile) -> set[str]:
    return {name.removeprefix("reenact/") for name in wheel.namelist() if name.startswith("reenact/")}


def test_everything_that_is_read_at_run_time_travels(wheel: zipfile.ZipFile) -> None:
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {str(path.relative_to(PACKAGE)) for path in files} - packed(wheel) == set()


def test_cases_and_prompts_are_among_them(wheel: zipfile.ZipFile) -> None:
    names = packed(wheel)
    assert "bench/cases/demo/train.py" in names
    assert any(name.startswith("bug/prompts/") for name in names)


def test_nothing_else_travels(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert not [
        name for name in names if "__pycache__" in name or name.endswith((".pyc", ".db", ".env", ".pem"))
    ]
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"reenact", f"reenact-{__version__}.dist-info"}


def test_it_says_how_it_is_started_and_what_it_needs(wheel: zipfile.ZipFile) -> None:
    facts = wheel.read(f"reenact-{__version__}.dist-info/METADATA").decode()
    points = wheel.read(f"reenact-{__version__}.dist-info/entry_points.txt").decode()
    assert "reenact = reenact.__main__:main" in points
    for extra in ("models", "torch", "keras", "mcp", "notebook"):
        assert f"Provides-Extra: {extra}\n" in facts
    assert "Requires-Dist: torch>=2.6; extra == 'torch'" in facts
