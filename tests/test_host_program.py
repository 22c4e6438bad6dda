"""Programs on the host: what they see of the environment and the folder, and how they end."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from reenact.host_program import (
    MOST_PRINTED,
    ask_users_interpreter,
    find_program,
    host_environment,
    open_users_browser,
    run_host_program,
    start_users_program,
)
from waiting import wait_until

SHOW = (
    "import json, os; print(json.dumps([os.getcwd(), dict(os.environ), os.read(0, 100).decode()]))"
)


def shown(*, network: bool = False, stdin: bytes = b"") -> tuple[str, dict[str, str], str]:
    done = run_host_program(
        [sys.executable, "-I", "-c", SHOW], wall_s=60, network=network, stdin=stdin
    )
    folder, environment, read = json.loads(done.stdout)
    return folder, environment, read


def test_a_host_program_sees_only_the_names_on_the_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted = [
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "LD_PRELOAD",
        "GIT_DIR",
        "UV_TARGET",
        "PIP_TARGET",
        "SECRET_TOKEN",
    ]
    for name in planted:
        monkeypatch.setenv(name, "/planted")
    monkeypatch.delenv("LD_PRELOAD")
    monkeypatch.setenv("https_proxy", "http://proxy.invalid")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    folder, environment, read = shown()
    assert folder == "/"
    assert read == ""
    assert not set(planted) & set(environment)
    assert "https_proxy" not in environment
    assert environment["LC_ALL"] == "C.UTF-8"
    assert environment["HOME"] == os.environ["HOME"]
    monkeypatch.setenv("SSL_CERT_FILE", "mine.pem")
    _, environment, read = shown(network=True, stdin=b"fed")
    assert environment["SSL_CERT_FILE"] == str(Path("mine.pem").absolute())
    assert environment["https_proxy"] == "http://proxy.invalid"
    assert read == "fed"


def test_programs_and_entries_of_the_current_folder_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "git"
    planted.write_text("#!/bin/sh\nexit 0\n")
    planted.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{os.pathsep}:{os.environ['PATH']}")
    assert find_program("git") != str(planted)
    assert find_program("./git") == str(planted)
    assert all(Path(entry).is_absolute() for entry in host_environment()["PATH"].split(os.pathsep))


def test_a_program_that_takes_too_long_or_is_looked_away_is_ended(
    tmp_path: Path,
) -> None:
    pid = tmp_path / "pid"
    argv = ["/bin/sh", "-c", f"echo $$ > {pid}; exec sleep 600"]
    with pytest.raises(TimeoutError):
        run_host_program(argv, wall_s=0.1)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)

    def look() -> None:
        raise KeyError("ended")

    with pytest.raises(KeyError, match="ended"):
        run_host_program(argv, wall_s=600, look=look)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_program_that_prints_without_end_is_ended() -> None:
    done = run_host_program(["/bin/sh", "-c", "while :; do cat /bin/sh /bin/sh; done"], wall_s=600)
    assert done.returncode != 0
    assert len(done.stdout) == MOST_PRINTED + 1


def test_the_users_program_keeps_the_users_environment_and_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_OWN", "kept")
    monkeypatch.chdir(tmp_path)
    words = [
        sys.executable,
        "-c",
        "import os; print(os.environ['MY_OWN'], os.getcwd())",
    ]
    printed = tmp_path / "printed"
    with printed.open("wb") as sink:
        assert start_users_program(words, stdout=sink).wait() == 0
    assert printed.read_text().split() == ["kept", str(tmp_path)]
    assert ask_users_interpreter(words, 60).stdout.decode().split() == [
        "kept",
        str(tmp_path),
    ]


def test_a_browser_is_the_users_and_not_one_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`view --open` started an `xdg-open` of the folder where PATH has a relative entry."""
    own, planted, shown = tmp_path / "own", tmp_path / "planted", tmp_path / "shown"
    for folder, text in (
        (own, f"pwd > {shown}; echo $1 $MY_OWN >> {shown}"),
        (planted, f"touch {shown}-planted"),
    ):
        folder.mkdir()
        for name in ("firefox", "xdg-open", "xdg-settings"):
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
    (tmp_path / "subprocess.py").write_text(f"open('{shown}-planted', 'w')\n")
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "DISPLAY": ":1",
        "BROWSER": "firefox",
        "MY_OWN": "kept",
        "PYTHONPATH": ".",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", os.pathsep.join(["planted", "", str(own), os.environ["PATH"]]))
    assert open_users_browser("http://127.0.0.1:1/x").wait() == 0
    wait_until(
        lambda: shown.exists() and shown.read_text().count("\n") == 2,
        "the browser to start",
    )
    assert shown.read_text().splitlines() == ["/", "http://127.0.0.1:1/x kept"]
    assert not Path(f"{shown}-planted").exists()


def test_the_temporary_folders_of_git_are_ours_alone(tmp_path: Path) -> None:
    from reenact.sandbox.git_folder import TheirGit, own_git_folder

    (tmp_path / "objects").mkdir()
    (tmp_path / "HEAD").write_text("ref: refs/heads/main\n")
    with own_git_folder(TheirGit(tmp_path, tmp_path)) as own:
        assert stat.S_IMODE(own.stat().st_mode) == 0o700
        assert own.stat().st_uid == os.geteuid()
