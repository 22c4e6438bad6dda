"""The poison of the after-run programs works on a careless host, and not on ours."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from benchmarks.hostile.case import Case, hostile_cases
from benchmarks.hostile.steps import after, lay_out, make_repository
from reenact.errors import ReenactError

pytestmark = pytest.mark.release

AFTER = [case for case in hostile_cases() if case.number in ("H41", "H42")]


def leavings(case: Case, tmp_path: Path) -> dict[str, bytes]:
    """What the program of a case leaves; these programs only write files in their folder."""
    work = tmp_path / "work"
    work.mkdir()
    tag = str(sys.implementation.cache_tag)
    environment = {
        **os.environ,
        "CANARY_TRIPWIRE": str(tmp_path / "tripwire"),
        "CANARY_TAG": tag,
    }
    subprocess.run([sys.executable, str(case.path)], cwd=work, env=environment, check=True)
    return {
        name: (work / name).read_bytes()
        for name in (name.replace("{tag}", tag) for name in case.collect)
    }


def _python(*words: str) -> Callable[[Path], None]:
    def step(folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
        )

    return step


def _git(folder: Path) -> None:
    for words in (("status",), ("diff",), ("log", "-1")):
        subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)


def _array(folder: Path) -> None:
    _python("-c", "import numpy; numpy.load('predictions.npy', allow_pickle=True)")(folder)


CARELESS: Mapping[str, Callable[[Path], None]] = {
    "H41a": _git,
    "H41b": _git,
    "H41c": _git,
    "H41d": _git,
    "H42b": _array,
    "H42d": _python("-c", "import pickle; pickle.load(open('dataset.pkl', 'rb'))"),
}


@pytest.mark.parametrize(
    "case", [case for case in AFTER if case.id in CARELESS], ids=lambda case: case.id
)
def test_a_careless_host_runs_the_poison(case: Case, tmp_path: Path) -> None:
    files = leavings(case, tmp_path)
    folder = tmp_path / "host"
    folder.mkdir()
    if case.host_step == "git":
        make_repository(folder)
    lay_out(files, folder)
    CARELESS[case.id](folder)
    assert (tmp_path / "tripwire").exists()


@pytest.mark.parametrize("case", AFTER, ids=lambda case: case.id)
def test_our_host_does_not(case: Case, tmp_path: Path) -> None:
    files = leavings(case, tmp_path)
    folder = tmp_path / "host"
    folder.mkdir()
    assert after(case.host_step, files, folder) == []
    assert not (tmp_path / "tripwire").exists()


@pytest.mark.parametrize(
    ("step", "name", "content"),
    [
        ("json", "a.json", b"{}"),
        (
            "array",
            "a.npy",
            b"\x93NUMPY\x01\x00v\x00"
            + b"{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }".ljust(117)
            + b"\n",
        ),
    ],
)
def test_a_step_complains_about_what_it_should_refuse_and_does_not(
    step: str, name: str, content: bytes, tmp_path: Path
) -> None:
    assert after(step, {name: content}, tmp_path) == [f"the host accepted {name}"]


def test_a_step_that_is_no_step_is_an_error(tmp_path: Path) -> None:
    with pytest.raises((KeyError, ReenactError)):
        after("nothing", {}, tmp_path)
