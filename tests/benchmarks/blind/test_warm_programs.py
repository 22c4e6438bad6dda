"""Programs in forks of a warm interpreter: alike twice, counted in time, and kept when all is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from benchmarks.blind.cases import Case
from benchmarks.blind.compare import identity, read
from benchmarks.blind.rewrites.every import ALL
from benchmarks.blind.transcript import run
from benchmarks.blind.warm.interpreter import needed, warm
from benchmarks.children import ROOT, environment
from waiting import wait_until

pytestmark = pytest.mark.release

LEARNS = """
import time
import torch

print(time.time(), time.process_time())
weight = torch.randn(3, requires_grad=True)
for number in range(2):
    loss = (weight**2).sum()
    loss.backward()
    print(number, loss.item())
"""


def case(folder: Path, text: str, name: str = "train") -> Case:
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(text)
    return Case(name, folder, ("train.py",), ("train.py",), (ALL,))


def test_a_program_prints_and_differentiates_the_same_twice(tmp_path: Path) -> None:
    program = case(tmp_path / "a", LEARNS)
    first, second = run(program), run(program)
    assert first == second
    assert len(first.losses) == 2
    assert first.end == "exit 0"
    assert first.output.startswith("1700000000.0 0.004\n0 ")


def test_what_one_program_changes_the_next_does_not_see(tmp_path: Path) -> None:
    seen = "import torch\nprint(hasattr(torch, 'left'))\ntorch.left = 1\n"
    assert [run(case(tmp_path / "a", seen)).output for _ in range(2)] == ["False\n"] * 2


def test_large_packages_are_those_that_a_program_imports(tmp_path: Path) -> None:
    program = case(tmp_path / "a", "import os\nfrom torch import nn\nimport keras.layers\n")
    assert program.modules == ("torch", "keras")
    assert needed(["numpy", "torchvision.models"]) == ()


def test_a_program_may_be_terminated_and_its_interpreter_may_not(tmp_path: Path) -> None:
    ends = case(tmp_path / "a", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    terminates = case(tmp_path / "b", "import os, signal\nos.kill(os.getppid(), signal.SIGTERM)\n")
    assert run(ends).end == "exit code -15"
    assert run(terminates).end == "exit 0"
    assert run(ends).end == "exit code -15"


def test_what_a_dead_interpreter_shows_counts_for_nothing(tmp_path: Path) -> None:
    kills = case(tmp_path / "a", "import os, sklearn\nos.kill(os.getppid(), 9)\n")
    with pytest.raises(RuntimeError, match="has ended"):
        run(kills)


def test_a_question_to_the_interpreter_is_no_run(tmp_path: Path) -> None:
    asked = subprocess.run(
        [str(warm(()).python), "-c", "print(1)"],
        env=environment(BLIND_TRANSCRIPT=str(tmp_path / "noted")),
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked.stdout == "1\n"
    assert not (tmp_path / "noted").exists()


DRIVER = """
import sys
from pathlib import Path
from benchmarks.blind.cases import Case
from benchmarks.blind.compare import compare_all
from benchmarks.blind.rewrites.every import ALL
from reenact.types import Stop

if __name__ == "__main__":
    folder, kept = map(Path, sys.argv[1:])
    cases = [
        Case(one.name, one, ("train.py",), ("train.py",), (ALL,)) for one in sorted(folder.iterdir())
    ]
    compare_all(cases, "static", kept, jobs=2, tell=lambda _: None, stop=Stop())
"""


def test_a_kill_loses_the_cases_in_flight_and_nothing_else(tmp_path: Path) -> None:
    programs, kept = tmp_path / "programs", tmp_path / "kept"
    programs.mkdir()
    done = [case(programs / name, "value = 1\nprint(value)\n", name) for name in "ab"]
    stuck = case(programs / "c", "import time\nvalue = 600\ntime.sleep(value)\n", "c")
    (tmp_path / "driver.py").write_text(DRIVER)
    running = subprocess.Popen(
        [sys.executable, str(tmp_path / "driver.py"), str(programs), str(kept)],
        env=environment(MARK_OF_TEST=str(tmp_path)),
        start_new_session=True,
    )
    try:
        wait_until(lambda: len([*kept.glob("*.json")]) == 2, "two cases")
    finally:
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
    assert all(read(one, "static", kept) for one in done)
    assert read(stuck, "static", kept) is None
    wait_until(lambda: not _left(str(tmp_path)), "an end of all that was started")


def _left(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("MARK_OF_TEST") == mark:
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_the_same_commit_elsewhere_is_the_same(tmp_path: Path) -> None:
    """Results of another checkout are read here, and results of other code are not."""
    program = case(tmp_path / "a", "print(1)\n")
    elsewhere = tmp_path / "elsewhere"
    for name in ("src", "benchmarks/blind"):
        tracked = subprocess.run(
            ["git", "ls-files", name], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for path in tracked.stdout.splitlines():
            target = elsewhere / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / path).read_bytes())
    for name in ("__init__.py", "children.py", "identity.py"):
        (elsewhere / "benchmarks" / name).write_bytes((ROOT / "benchmarks" / name).read_bytes())
    assert _identity_in(elsewhere) in identity(program, "quick")
    (elsewhere / "src" / "reenact" / "program" / "training" / "torch.toml").write_text("")
    assert _identity_in(elsewhere) not in identity(program, "quick")


def _identity_in(root: Path) -> str:
    asked = (
        "from benchmarks.identity import code_identity as of; "
        "print(of('.'), of('benchmarks/blind'), sep='-')"
    )
    path = os.pathsep.join([str(root / "src"), str(root)])
    answer = subprocess.run(
        [sys.executable, "-c", asked],
        env={**os.environ, "PYTHONPATH": path},
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return answer.stdout.strip()
