"""A cluster of Ray takes nothing from shared folders and imports nothing from the current one."""

from __future__ import annotations

import stat
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from contracts.executor import program_in
from reenact.errors import MissingPart
from reenact.trials.ray_start import own_folder
from waiting import LONGEST_S

MODULES = ("psutil", "cloudpickle", "pydantic", "json", "sitecustomize")
TRAIN = """
import os, sys
from pathlib import Path
from reenact.program.program import read_program
from reenact.trials.ray import RayExecutor
from reenact.trials.trial import Trial
with RayExecutor(workers=1) as executor:
    import ray
    made = Path(ray._private.worker._global_node.get_session_dir_path()).parents[1]
    print("mode", oct(made.stat().st_mode & 0o777), "of", made.stat().st_uid == os.geteuid(), made)
    (outcome,) = executor.run([Trial(read_program([sys.argv[1]]))])
    print("ended as", outcome.kind)
print("left", made.exists())
"""


def test_the_folder_of_a_cluster_is_ours_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as short:
        (Path(short) / "ray").mkdir(mode=0o777)
        monkeypatch.setenv("RAY_TMPDIR", short)
        made = own_folder()
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
        assert made.parent == Path(short)
        assert made != own_folder()
    long = tmp_path / ("x" * 60)
    long.mkdir()
    monkeypatch.setenv("RAY_TMPDIR", str(long))
    with pytest.raises(MissingPart, match="too long"):
        own_folder()
    assert list(long.iterdir()) == []


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed.")
def test_workers_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    """A `reenact` there was imported by every worker, on the host."""
    tripwire, current = tmp_path / "tripwire", tmp_path / "current"
    (current / "reenact").mkdir(parents=True)
    trip = f"open({str(tripwire)!r}, 'a').write(__name__ + chr(10))\nraise ImportError('planted')\n"
    (current / "reenact" / "__init__.py").write_text(trip)
    for module in MODULES:
        (current / f"{module}.py").write_text(trip)
    program = program_in(tmp_path / "program", "print('nothing is trained')")
    script = tmp_path / "train_on_ray.py"
    script.write_text(TRAIN)
    ended = subprocess.run(
        [sys.executable, "-P", str(script), str(program.folder / "train.py")],
        cwd=current,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert not tripwire.exists(), tripwire.read_text()
    assert "mode 0o700 of True" in ended.stdout, ended.stderr
    assert "ended as no-training" in ended.stdout, ended.stderr
    assert "left False" in ended.stdout
