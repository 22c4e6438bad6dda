"""Box folders: made, locked, removed, and swept when their owner died, at every point at which
it can die.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from reenact.errors import SandboxFailed
from reenact.sandbox.cgroup import find_place
from reenact.sandbox.files.folder import BOX_MARK, BoxFolder, boxes, start_time, sweep
from reenact.sandbox.tiers.bubblewrap import Bubblewrap
from waiting import LONGEST_S

needs_bubblewrap = pytest.mark.skipif(
    bool(Bubblewrap().missing()), reason="bubblewrap does not work here"
)

OWNER = """
import signal, sys
# A test command started by nohup hands down a hang-up that is ignored.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from reenact.sandbox.choose import choose
from reenact.sandbox.box import Command, Limits
sandbox = choose(sys.argv[1], trust_code=True)
print("running", flush=True)
program = "import os, sys, time; os.makedirs('a/b', 0); print('up'); time.sleep(int(sys.argv[2]))"
line = (sys.executable, "-u", "-c", program, *sys.argv[2:])
sandbox.run(Command(line), Limits(wall_s=600), on_output=lambda output: print(output, flush=True))
"""


def owner(
    tmp: Path, tier: str, mark: str, seconds: str, **variables: str
) -> subprocess.Popen[bytes]:
    """A process that runs one box, in a temporary folder of its own."""
    environment = {
        **os.environ,
        "TMPDIR": str(tmp),
        "PYTHONPATH": str(Path(__file__).parents[3] / "src"),
        **variables,
    }
    return subprocess.Popen(
        [sys.executable, "-c", OWNER, tier, mark, seconds],
        env=environment,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def gone(mark: str) -> bool:
    """Whether every process with the mark has ended; given time, since the machine may be busy."""
    for _ in range(200):
        if not [p for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or ())]:
            return True
        time.sleep(0.05)
    return False


def place(tmp: Path) -> Path:
    return tmp / f"reenact-boxes-{os.getuid()}"


def groups_left(names: tuple[str, ...]) -> list[Path]:
    """The control groups of these boxes that are still there."""
    where = find_place()
    return [
        folder
        for name in names
        for folder in (where.folders(name) if where else ())
        if folder.exists()
    ]


def test_a_folder_is_ours_alone_and_goes_when_closed(tmp_path: Path) -> None:
    folder = BoxFolder.make(tmp_path)
    assert folder.work.is_dir()
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert folder.path.name.startswith(f"{os.getpid()}-{start_time(os.getpid())}-")
    assert boxes(tmp_path) == (folder.path.name,)
    assert folder.close() == ()
    assert boxes(tmp_path) == ()


def test_a_folder_that_is_held_is_not_swept(tmp_path: Path) -> None:
    folder = BoxFolder.make(tmp_path)
    (tmp_path / "left").mkdir()
    assert sweep(tmp_path) == ("left",)
    assert folder.path.is_dir()
    folder.close()


def test_a_place_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "place").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SandboxFailed, match="not a folder of this user"):
        BoxFolder.make(tmp_path / "place")


def test_a_noted_process_is_killed_and_a_later_one_of_its_number_is_not(
    tmp_path: Path,
) -> None:
    folder = BoxFolder.make(tmp_path)
    with (
        subprocess.Popen(["sleep", "600"]) as noted,
        subprocess.Popen(["sleep", "600"]) as other,
    ):
        folder.note_process(noted.pid)
        notes = folder.path / "notes"
        notes.write_text(
            notes.read_text() + f"process {other.pid} 1 pid:[1]\nprocess {other.pid} 1\nnonsense\n"
        )
        os.close(folder.lock)
        assert sweep(tmp_path) == (folder.path.name,)
        assert noted.wait(LONGEST_S) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()


@needs_bubblewrap
@pytest.mark.parametrize("point", ["C8", "C9", "C10"])
def test_an_owner_that_dies_at_a_crash_point_leaves_nothing_for_ever(
    tmp_path: Path, point: str
) -> None:
    mark = f"mark-{point}-{os.urandom(6).hex()}"
    dead = owner(
        tmp_path,
        "bubblewrap",
        mark,
        "600" if point == "C9" else "0",
        REENACT_CRASH_AT=f"{point}:2",
    )
    # The first box is the trial of the tier itself, which passes the points too.
    dead.communicate()
    assert dead.returncode == -signal.SIGKILL
    assert gone(mark)
    left = boxes(place(tmp_path))
    assert len(left) == 1
    next_one = owner(tmp_path, "bubblewrap", mark, "0")
    next_one.communicate()
    assert next_one.returncode == 0
    assert boxes(place(tmp_path)) == ()
    assert groups_left(left) == []


@pytest.mark.parametrize("tier", ["bubblewrap", "none"])
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGHUP"])
def test_an_owner_that_is_killed_takes_its_box_along(tmp_path: Path, tier: str, name: str) -> None:
    if tier == "bubblewrap" and Bubblewrap().missing():
        pytest.skip("bubblewrap does not work here")
    mark = f"mark-{name}-{os.urandom(6).hex()}"
    killed = owner(tmp_path, tier, mark, "600")
    assert killed.stdout is not None
    while b"up" not in killed.stdout.readline():
        assert killed.poll() is None
    killed.send_signal(signal.Signals[name])
    killed.communicate()
    assert gone(mark)
    (left,) = boxes(place(tmp_path))
    assert sweep(place(tmp_path)) == (left,)
    assert groups_left((left,)) == []
    assert boxes(place(tmp_path)) == ()


def test_a_launcher_that_nobody_noted_is_ended_by_its_mark(tmp_path: Path) -> None:
    """Its owner dies while it makes namespaces: no note, no death signal yet, and it would wait
    for ever.
    """
    folder = BoxFolder.make(tmp_path)
    stray = subprocess.Popen(
        ["sleep", "600"], env={BOX_MARK: folder.path.name}, start_new_session=True
    )
    other = subprocess.Popen(["sleep", "600"], env={BOX_MARK: "another"}, start_new_session=True)
    try:
        os.close(folder.lock)
        assert sweep(tmp_path) == (folder.path.name,)
        assert stray.wait(LONGEST_S) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        stray.kill()
        other.kill()
        stray.wait()
        other.wait()
