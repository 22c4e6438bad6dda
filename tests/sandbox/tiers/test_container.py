"""The container tier against an engine that is a script: a real process that speaks its command
line.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from contracts.sandbox import ContainmentContract
from reenact.sandbox.box import MIB, Command, Ending, Limits, Mount
from reenact.sandbox.files.folder import BoxFolder, sweep
from reenact.sandbox.tiers.container import Container, create_words
from reenact.sandbox.tiers.engine import Engine, find_engines

real = Container()


@pytest.mark.skipif(bool(real.missing()), reason="no container engine answers here")
class TestContainer(ContainmentContract):
    @pytest.fixture
    def sandbox(self) -> Container:
        return real


ENGINE = """#!{python} -I
import json, os, pathlib, signal, subprocess, sys
home = pathlib.Path({home!r})
words = sys.argv[1:]
with (home / "asked").open("a") as asked:
    asked.write(json.dumps(words) + "\\n")
state = home / "state"
if (home / "dead").exists():
    sys.exit("Cannot connect to the daemon. Is it running?")
match words[0]:
    case "version":
        print("fake 1.0")
    case "image":
        sys.exit(0 if (home / "image").exists() else 1)
    case "import":
        (home / "image").write_bytes(sys.stdin.buffer.read())
    case "create":
        if (home / "refuse").exists():
            sys.exit("no space left on device")
        (home / "created").write_text(json.dumps(words))
        state.write_text(json.dumps({{"Status": "created", "Pid": 0, "Error": "never started"}}))
    case "start":
        created = json.loads((home / "created").read_text())
        work = next(w for w in created if "target=/box/work" in w).split("source=")[1].split(",")[0]
        line = created[created.index("--entrypoint") + 3:]
        program = subprocess.Popen(["/bin/sh", *line], cwd=work, env={{}})
        state.write_text(json.dumps({{"Status": "running", "Pid": program.pid}}))
        code = program.wait()
        oom = (home / "oom").exists()
        ended = {{"Status": "exited", "Pid": 0, "ExitCode": code % 256, "OOMKilled": oom}}
        state.write_text(json.dumps(ended))
        sys.exit(code % 256)
    case "inspect":
        if not state.exists():
            sys.exit(1)
        print(json.dumps([{{"State": json.loads(state.read_text())}}]))
    case "kill":
        pid = json.loads(state.read_text())["Pid"]
        if pid:
            os.kill(pid, signal.SIGKILL)
    case "rm":
        state.unlink(missing_ok=True)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of an engine: its executable, and files by which a test tells it how to behave."""
    path = tmp_path / "docker"
    path.write_text(ENGINE.format(python=sys.executable, home=str(tmp_path)))
    path.chmod(0o755)
    return tmp_path


def asked(home: Path) -> list[list[str]]:
    return [json.loads(line) for line in (home / "asked").read_text().splitlines()]


def sandbox(home: Path) -> Container:
    return Container(str(home / "docker"))


PYTHON = sys.executable


def test_a_run_from_making_to_removal(home: Path) -> None:
    program = "import sys; print(sys.stdin.read()); open('r', 'w').write('done')"
    result = sandbox(home).run(
        Command((PYTHON, "-c", program), stdin=b"hello", collect=("r",)), Limits()
    )
    assert (result.ending, result.output, result.results) == (
        Ending.OK,
        "hello\n",
        {"r": b"done"},
    ), result.why
    assert [words[0] for words in asked(home) if words[0] not in ("inspect", "image")] == [
        "version",
        "import",
        "create",
        "start",
        "rm",
    ]


def test_the_programs_status_and_a_kill_for_memory_are_kept_apart(home: Path) -> None:
    exits = Command((PYTHON, "-c", "raise SystemExit(3)"))
    assert sandbox(home).run(exits, Limits()).exit_code == 3
    (home / "oom").touch()
    result = sandbox(home).run(
        Command((PYTHON, "-c", "import os; os.kill(os.getpid(), 9)")), Limits()
    )
    assert (result.ending, result.signal) == (Ending.MEMORY_LIMIT, 9)


def test_a_deadline_kills_through_the_engine(home: Path) -> None:
    result = sandbox(home).run(
        Command((PYTHON, "-c", "import time; time.sleep(600)")), Limits(wall_s=0.5)
    )
    assert result.ending is Ending.TIMEOUT
    assert "kill" in [words[0] for words in asked(home)]


def test_without_a_pid_namespace_the_processes_of_the_machine_are_not_those_of_the_box(
    home: Path,
) -> None:
    """The script that acts as the engine has none: whatever ran on the machine counted."""
    wait = "import time; time.sleep(1)"
    result = sandbox(home).run(Command((PYTHON, "-c", wait)), Limits(memory_bytes=1, processes=1))
    assert result.ending is Ending.OK, result.why


def test_an_engine_that_refuses_is_no_verdict_on_the_program(home: Path) -> None:
    (home / "refuse").touch()
    result = sandbox(home).run(Command(("true",)), Limits())
    assert result.ending is Ending.SANDBOX_FAILED
    assert "no space left on device" in result.why


def test_no_engine_and_a_deaf_engine_are_sentences(home: Path) -> None:
    assert "No container engine is installed" in Container(str(home / "absent")).missing()
    (home / "dead").touch()
    output = sandbox(home).missing()
    assert "No container engine answers" in output
    assert "Is it running?" in output


def test_what_the_container_is_made_of(home: Path) -> None:
    folder = BoxFolder.make(home / "boxes")
    data = Mount(home, "/data")
    command = Command(("prog", "arg"), mounts=(data,), environment={"SEED": "1"})
    limits = Limits(memory_bytes=64 * MIB, processes=10)
    try:
        words = create_words(Engine("docker"), "name", "image", folder, command, limits)
        podman = create_words(Engine("/usr/bin/podman"), "name", "image", folder, command, limits)
    finally:
        folder.close()
    line = " ".join(words)
    for part in (
        "--network none",
        "--read-only",
        "--cap-drop ALL",
        "no-new-privileges",
        "--pids-limit 11",
        f"--memory {64 * MIB} --memory-swap {64 * MIB}",
        "--ulimit core=0:0",
        f"source={home},target=/data,readonly",
        "target=/usr,readonly",
        "--env SEED=1",
    ):
        assert part in line
    assert words[-2:] == ["prog", "arg"]
    assert "--user 0" not in line
    assert not [
        word
        for word in words
        if word.startswith("type=bind") and "readonly" not in word and "/inside/" not in word
    ]
    assert "--timeout" in podman
    assert "--timeout" not in words


def test_a_container_whose_owner_died_is_removed_by_the_sweep(home: Path) -> None:
    folder = BoxFolder.make(home / "boxes")
    folder.note("container", f"reenact-left {home / 'docker'}")
    os.close(folder.lock)
    assert sweep(home / "boxes") == (folder.path.name,)
    assert asked(home)[-1] == ["rm", "--force", "reenact-left"]


def test_engines_are_found_by_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(home))
    assert [engine.path for engine in find_engines()] == [str(home / "docker")]
