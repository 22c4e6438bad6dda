from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reenact.errors import InputError, SandboxUnavailable
from reenact.sandbox import choose as choosing
from reenact.sandbox.choose import choose, choose_with_gpu, describe, notice
from reenact.sandbox.files.folder import space_problem
from reenact.sandbox.gpu import find_gpu
from reenact.sandbox.tiers.bubblewrap import Bubblewrap


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine whose PATH holds no launcher and no engine."""
    monkeypatch.setenv("PATH", str(tmp_path))


def test_the_best_that_works_is_chosen_and_needs_no_word() -> None:
    if Bubblewrap().missing():
        pytest.skip("bubblewrap does not work here")
    sandbox = choose()
    assert sandbox.name == "bubblewrap"
    assert notice(sandbox) == ""


@pytest.mark.usefixtures("nothing_installed")
def test_without_any_the_sentence_says_what_is_missing_and_what_to_do() -> None:
    with pytest.raises(SandboxUnavailable, match="No sandbox works") as refused:
        choose()
    assert "bubblewrap is not installed" in refused.value.sentence
    assert "No container engine" in refused.value.sentence
    assert "apt install bubblewrap" in refused.value.next_step


@pytest.mark.usefixtures("nothing_installed")
def test_without_any_trusted_code_runs_unprotected_and_the_user_is_warned() -> None:
    sandbox = choose(trust_code=True)
    assert sandbox.name == "none"
    assert "It does not stop: reading, changing" in notice(sandbox)
    assert "bubblewrap is not installed" in notice(sandbox)


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize("name", ["bubblewrap", "container", "docker", "podman"])
def test_one_that_was_named_and_is_missing_is_never_replaced(name: str) -> None:
    with pytest.raises(SandboxUnavailable, match=f"{name} was asked for and does not work here"):
        choose(name, trust_code=True)


def test_no_sandbox_needs_the_users_word() -> None:
    with pytest.raises(SandboxUnavailable):
        choose("none")
    assert choose("none", trust_code=True).name == "none"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="sandbox='jail'") as refused:
        choose("jail")
    assert all(name in refused.value.next_step for name in choosing.NAMES)


def test_the_doctors_report_covers_every_tier() -> None:
    reports = {report.name: report for report in describe()}
    assert list(reports) == ["bubblewrap", "bubblewrap-gpu", "container", "sandlock", "none"]
    assert all(bool(report.missing) != report.works for report in reports.values())
    assert all(report.does_not_stop for report in reports.values())
    assert sum(report.chosen for report in reports.values()) <= 1
    assert not reports["sandlock"].chosen
    assert not reports["none"].chosen
    assert not reports["bubblewrap-gpu"].chosen
    if reports["bubblewrap"].works:
        assert reports["bubblewrap"].chosen


def test_the_gpu_is_shown_by_its_own_tier_alone_and_never_silently_left_away() -> None:
    with pytest.raises(InputError, match="Only bubblewrap can show the GPU"):
        choose_with_gpu("sandlock")
    assert choose_with_gpu("none", trust_code=True).name == "none"
    if find_gpu().devices:
        assert choose_with_gpu().name == "bubblewrap-gpu"
        return
    with pytest.raises(SandboxUnavailable, match="There is no NVIDIA GPU") as refused:
        choose_with_gpu()
    assert "--gpu" in refused.value.next_step


CHOOSE = """
import os, subprocess, sys
place, size, name = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", place], check=True)
os.environ["TMPDIR"] = place
from reenact.errors import ReenactError
from reenact.sandbox.choose import choose
try:
    choose(name or None, trust_code=bool(name))
except ReenactError as error:
    print(type(error).__name__, error.sentence, error.next_step, sep="\\n")
"""


@pytest.mark.parametrize("name", ["", "bubblewrap", "none"])
def test_a_full_disk_leads_to_freeing_space_and_not_to_trusting_code(
    tmp_path: Path, name: str
) -> None:
    for way in (["unshare", "-m"], ["unshare", "-Urm"]):
        words = [*way, sys.executable, "-c", CHOOSE, str(tmp_path), "1m", name]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            break
    else:
        pytest.skip("this machine lets us mount nothing")
    kind, sentence, next_step = ran.stdout.splitlines()
    assert kind == "StorageError"
    assert f"MiB of disk are free at {tmp_path}" in sentence
    assert "trust" not in sentence + next_step
    assert "Free some space there, or set TMPDIR" in next_step


def test_a_place_for_boxes_that_cannot_be_written_to_is_named() -> None:
    assert "/proc/boxes" in space_problem(1, Path("/proc/boxes"))
    assert space_problem(1) == ""
