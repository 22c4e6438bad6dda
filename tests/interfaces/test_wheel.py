"""The wheel: built without a network, with everything the package reads at run time and nothing
else.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from reenact.version import __version__

pytestmark = pytest.mark.release

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "reenact"
pytest.importorskip("hatchling")
EXTRAS = (
    "numpy",
    "scipy",
    "optuna",
    "sqlalchemy",
    "pydantic_ai",
    "jsonschema",
    "ruff",
    "torch",
    "keras",
    "mcp",
    "starlette",
    "uvicorn",
    "jinja2",
    "pdfplumber",
    "pypdfium2",
)
"""What a plain installation does not bring."""
ABSENT = f"""
import sys
from importlib.machinery import PathFinder


class Plain(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {EXTRAS} else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Plain
"""
TESTED = (
    "test-hypothesis",
    "--claim=x",
    "--edit=examples/claims/fix.diff",
    "--check=examples/claims/check.py",
    "examples/claims/sentences.py",
)
Plain: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    ended = subprocess.run(
        [sys.executable, "-c", build, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return zipfile.ZipFile(folder / ended.stdout.split()[-1])


def packed(wheel: zipfile.ZipFile) -> set[str]:
    return {
        name.removeprefix("reenact/") for name in wheel.namelist() if name.startswith("reenact/")
    }


def test_everything_that_is_read_at_run_time_travels(wheel: zipfile.ZipFile) -> None:
    files = [
        path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    assert {str(path.relative_to(PACKAGE)) for path in files} - packed(wheel) == set()


def test_cases_and_prompts_are_among_them(wheel: zipfile.ZipFile) -> None:
    names = packed(wheel)
    assert {
        "demo/cases/train.py",
        "web/templates/run.html",
        "report/style.css",
    } <= names
    prompts = [name for name in names if "/prompts/" in name and name.endswith(".md")]
    assert {name.partition("/")[0] for name in prompts} >= {"bug", "paper"}
    for kind in ("bugs", "papers"):
        assert any(name.startswith(f"demo/cases/{kind}/") for name in names)


def test_benchmarks_and_hostile_programs_stay_out(wheel: zipfile.ZipFile) -> None:
    assert not [name for name in wheel.namelist() if "benchmarks" in name or "hostile" in name]
    assert Path(str(wheel.filename)).stat().st_size <= 2_500_000


def test_nothing_else_travels(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert not [
        name
        for name in names
        if "__pycache__" in name or name.endswith((".pyc", ".db", ".env", ".pem"))
    ]
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"reenact", f"reenact_dl-{__version__}.dist-info"}


def test_it_says_how_it_is_started_and_what_it_needs(wheel: zipfile.ZipFile) -> None:
    facts = wheel.read(f"reenact_dl-{__version__}.dist-info/METADATA").decode()
    points = wheel.read(f"reenact_dl-{__version__}.dist-info/entry_points.txt").decode()
    assert "reenact = reenact.__main__:main" in points
    for extra in ("all", "train", "models", "torch", "keras", "mcp", "notebook"):
        assert f"Provides-Extra: {extra}\n" in facts
    assert "Requires-Dist: torch>=2.6; extra == 'torch'" in facts


@pytest.fixture(scope="module")
def plain(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Plain:
    """`plain(words, without=...)`: reenact as the wheel installs it, in a folder with the examples
    alone.

    Dependencies are those of this environment; those of extras can be taken away.
    """
    folder = tmp_path_factory.mktemp("installed")
    assert wheel.filename is not None
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-compile",
    ]
    subprocess.run(
        [*pip, "--target", str(folder / "here"), wheel.filename],
        check=True,
        capture_output=True,
    )
    (folder / "bare").mkdir()
    (folder / "bare" / "sitecustomize.py").write_text(ABSENT)
    (folder / "work").mkdir()
    shutil.copytree(ROOT / "examples", folder / "work" / "examples")

    def ran(*words: str, bare: bool = False) -> subprocess.CompletedProcess[str]:
        paths = [str(folder / "bare")] * bare + [str(folder / "here")]
        return subprocess.run(
            [sys.executable, *words],
            cwd=folder / "work",
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )

    return ran


def test_what_was_installed_is_what_runs(plain: Plain) -> None:
    reported = plain("-c", "import reenact; print(reenact.__file__)").stdout
    assert "/here/reenact/__init__.py" in reported
    assert str(ROOT) not in reported


@pytest.mark.parametrize("bare", [False, True], ids=["all extras", "no extras"])
def test_the_first_two_commands_work_from_it(plain: Plain, bare: bool) -> None:
    ended = plain("-m", "reenact", "doctor", "--output-format", "json", bare=bare)
    assert ended.returncode in (0, 1), ended.stderr
    assert json.loads(ended.stdout)["kind"] == "doctor"
    program = "examples/broken/torch_spirals.py"
    ended = plain("-m", "reenact", "diagnose", "--depth", "static", program, bare=bare)
    assert ended.returncode == 1, ended.stderr
    assert "UM005 learning-rate-high" in ended.stdout


def test_a_report_is_painted_with_what_travelled_and_no_extra(plain: Plain) -> None:
    plain(
        "-m",
        "reenact",
        "diagnose",
        "--depth",
        "static",
        "examples/broken/torch_glyphs.py",
    )
    ended = plain("-m", "reenact", "report", "last", "--html", "run.html", bare=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("view",), "[web]"),
        (("mcp",), "[mcp]"),
        (("read", "paper.pdf"), "[papers]"),
        (("diagnose", "examples/broken/torch_glyphs.py"), "[train]"),
        (("repair", "examples/broken/torch_glyphs.py"), "[train]"),
        (("watch", "examples/broken/torch_glyphs.py"), "[train]"),
        (("alternatives", "examples/broken/torch_glyphs.py"), "[train]"),
        (TESTED, "[train]"),
        (("mutate", "--kill", "examples/broken/torch_glyphs.py"), "[train]"),
        (("bug", "README.md", "--repo", ".", "--model", "ollama:none"), "[models]"),
        (("paper", "examples/paper/note.md", "--model", "ollama:none"), "[models]"),
        (("fingerprint", "examples/paper/note.md", "--model", "ollama:none"), "[models]"),
        (("evaluate", "examples"), "[models]"),
    ],
)
def test_an_extra_that_is_missing_is_named_when_it_is_needed(
    plain: Plain, words: tuple[str, ...], extra: str
) -> None:
    ended = plain("-c", "open('paper.pdf', 'wb').write(b'%PDF-1.4')")
    ended = plain("-m", "reenact", *words, bare=True)
    assert ended.returncode == 2, ended.stdout
    assert extra in ended.stderr
    assert "pip install" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_alone_in_a_fresh_environment_it_diagnoses_a_program_whose_torch_lives_elsewhere(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    here = tmp_path / "env" / "bin"
    subprocess.run([here / "pip", "install", "--quiet", f"{wheel.filename}[train,web]"], check=True)
    shutil.copy(ROOT / "examples" / "broken" / "torch_gestures.py", tmp_path)
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("VIRTUAL_ENV", "PYTHONPATH")
    }

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(here / "reenact"), *words]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=clean,
            capture_output=True,
            text=True,
            check=False,
        )

    assert subprocess.run(
        [here / "python", "-c", "import torch"], capture_output=True, check=False
    ).returncode
    lost = ran("diagnose", "torch_gestures.py")
    assert "No module named 'torch'" in lost.stdout
    assert str(here / "python") in lost.stdout
    assert "Pass --python PATH" in lost.stdout
    assert "DR009" in ran("doctor").stdout
    began = time.monotonic()
    found = ran("diagnose", "--python", sys.executable, "torch_gestures.py")
    print(f"seconds to the first true finding: {time.monotonic() - began:.1f}")
    assert found.returncode == 1, found.stderr
    assert "RE010 gradients-not-cleared" in found.stdout
    assert "+ optimizer.zero_grad()" in found.stdout
    assert ran("report", "last", "--html", "run.html").returncode == 0
    assert "gradients-not-cleared" in (tmp_path / "run.html").read_text(encoding="utf-8")
    page = subprocess.Popen(
        [here / "reenact", "view"],
        cwd=tmp_path,
        env=clean,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert page.stdout is not None
    address = page.stdout.readline().split()[-1]
    with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(address) as answer:
        assert "torch_gestures.py" in answer.read().decode()
    page.send_signal(signal.SIGINT)
    assert page.wait() == 0
