"""The default tier: the conformance suite with and without control groups, and what is its own."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from contracts.sandbox import SECRET, ContainmentContract, python
from reenact.host_program import find_program
from reenact.sandbox.box import MIB, Command, Ending, Limits, Mount
from reenact.sandbox.cgroup import find_place
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.tiers.bubblewrap import Bubblewrap
from reenact.sandbox.tiers.launch import KILLED_EARLY, Status, launch
from reenact.sandbox.watcher import BoxBroke, LauncherKilled, Started

pytestmark = pytest.mark.skipif(
    bool(Bubblewrap().missing()), reason="bubblewrap does not work here"
)
LIMITS = Limits(wall_s=60)


class TestBubblewrap(ContainmentContract):
    @pytest.fixture
    def sandbox(self) -> Bubblewrap:
        return Bubblewrap()


class TestBubblewrapByLooking(ContainmentContract):
    """As for most ordinary users: no control group, so the watcher alone finds what is too much."""

    @pytest.fixture
    def sandbox(self) -> Bubblewrap:
        return Bubblewrap(groups=False)


def run(program: str, **kinds: object) -> str:
    """The output of a program that must succeed."""
    result = Bubblewrap().run(Command((sys.executable, "-c", program), **kinds), LIMITS)  # type: ignore[arg-type]
    assert result.ok, (result.ending, result.why, result.output)
    return result.output


def test_process_1_shows_neither_environment_nor_paths_of_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    output = run("for name in ('environ', 'cmdline'): print(open(f'/proc/1/{name}').read())")
    assert SECRET not in output
    assert "reenact-boxes" not in output
    assert "--ro-bind" not in output


def test_only_three_places_can_be_written() -> None:
    program = """
import os
found = set()
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/usr")]
    try:
        os.close(os.open(f"{folder}/planted", os.O_CREAT | os.O_WRONLY))
        found.add(folder)
    except OSError:
        pass
print(sorted(name for name in found if not name.startswith("/tmp/")))
"""
    assert run(program) == "['/box/home', '/box/work', '/dev/shm', '/tmp']\n"


def test_an_attempt_on_the_network_is_an_event_and_no_ending() -> None:
    program = """
import socket
for address in ("192.0.2.7", "2001:db8::7"):
    try:
        socket.create_connection((address, 80), 2)
    except OSError as refused:
        print(refused)
"""
    result = Bubblewrap().run(python(program), LIMITS)
    assert result.ok
    assert [event.kind for event in result.events] == ["network-denied"]
    assert "2 times" in result.events[0].detail


def test_a_name_look_up_is_an_event_and_loopback_is_none() -> None:
    look = python(
        "import socket\ntry: socket.gethostbyname('example.com')\nexcept OSError: print('refused')"
    )
    result = Bubblewrap().run(look, LIMITS)
    assert result.output == "refused\n"
    assert [event.kind for event in result.events] == ["network-denied"]
    program = """
import socket
for address in ("127.0.0.1", "::1", "localhost", socket.gethostname()):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, 0), family=family) as service:
        socket.create_connection(service.getsockname()[:2], 5).close()
"""
    result = Bubblewrap().run(python(program), LIMITS)
    assert (result.ending, result.events) == (Ending.OK, ()), result.output


def test_mounts_are_seen_and_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.txt").write_text("data")
    (tmp_path / "one.txt").write_text("one")
    program = """
import os
print(open("/data/x.txt").read(), open("/box/work/in/one.txt").read())
for act, place in ((open, "/data/new"), (os.remove, "/data/x.txt"), (open, "/box/work/in/one.txt")):
    try:
        act(place, "w") if act is open else act(place)
        print("WROTE")
    except OSError:
        pass
"""
    mounts = (
        Mount(tmp_path / "data", "/data"),
        Mount(tmp_path / "one.txt", "/box/work/in/one.txt"),
    )
    assert run(program, mounts=mounts) == "data one\n"


def test_packages_of_this_interpreter_are_there() -> None:
    assert run("import sys, psutil; print(sys.prefix)").strip() == sys.prefix


def test_a_program_that_is_not_there() -> None:
    result = Bubblewrap().run(Command(("no-such-program",)), LIMITS)
    assert (result.ending, result.exit_code) == (Ending.EXIT, 127)
    assert "not found" in result.output


def test_shells_words_do_not_mix_with_the_programs() -> None:
    result = Bubblewrap().run(python("import os; os.kill(os.getpid(), 9)"), LIMITS)
    assert (result.ending, result.signal, result.output) == (Ending.KILLED, 9, "")


def test_devices_are_few_and_none_is_a_gpu() -> None:
    output = run("import os; print(sorted(os.listdir('/dev')))")
    assert "nvidia" not in output
    assert "'null'" in output
    assert "sda" not in output


def test_no_hyperparameter_of_the_kernel_can_be_turned() -> None:
    """As root's user number a program could turn them."""
    program = """
import os
for folder, folders, files in os.walk("/proc"):
    folders[:] = [name for name in folders if not name.isdigit() and name not in ("self", "thread-self")]
    for name in files:
        try:
            os.close(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_NONBLOCK))
            print(folder, name)
        except OSError:
            pass
"""
    assert run(program) == ""


def test_a_refused_fork_is_the_boxs_and_not_the_programs_fault() -> None:
    place = find_place()
    if place is None or place.pids is None:
        pytest.skip("no control group for tasks here")
    result = Bubblewrap().run(
        python("import os\nfor n in range(99): os.fork() or os.pause()"),
        Limits(processes=8),
    )
    assert result.ending is Ending.PROCESS_LIMIT


def test_shared_memory_counts_as_disk_and_hidden_memory_as_memory() -> None:
    shared = """
import time
with open("/dev/shm/large", "wb", buffering=0) as sink:
    for _ in range(100):
        sink.write(b"x" * (1 << 20))
        time.sleep(0.005)
"""
    assert Bubblewrap().run(python(shared), Limits(disk_bytes=16 * MIB)).ending is Ending.DISK_LIMIT
    hidden = """
import os, time
sink = os.memfd_create("hidden")
for _ in range(100):
    os.write(sink, b"x" * (2 << 20))
    time.sleep(0.01)
"""
    for sandbox in (Bubblewrap(), Bubblewrap(groups=False)):
        assert (
            sandbox.run(python(hidden), Limits(memory_bytes=64 * MIB)).ending is Ending.MEMORY_LIMIT
        )


def test_a_mapped_data_set_is_not_memory_and_forks_share() -> None:
    program = """
import mmap, os, time
with open("data", "wb") as sink:
    sink.write(b"x" * (60 << 20))
with open("data", "rb") as source:
    view = mmap.mmap(source.fileno(), 0, prot=mmap.PROT_READ)
total = sum(view[::4096])
held = bytearray(b"x") * (40 << 20)
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        time.sleep(0.5)
        os._exit(len(held) == 0)
    children.append(child)
assert not any(os.waitpid(child, 0)[1] for child in children)
"""
    result = Bubblewrap(groups=False).run(
        python(program), Limits(memory_bytes=120 * MIB, disk_bytes=80 * MIB)
    )
    assert result.ok, (result.ending, result.why, result.output)


def test_a_launcher_that_fails_is_no_verdict_on_the_program(tmp_path: Path) -> None:
    launcher = tmp_path / "bwrap"
    for words, why in (
        (
            "echo 'setting up uid map: Permission denied' >&2; exit 1",
            "uid map: Permission denied",
        ),
        ("exit 0", "it printed nothing"),
    ):
        launcher.write_text(f"#!/bin/sh\n{words}\n")
        launcher.chmod(0o755)
        result = Bubblewrap(str(launcher)).run(python("print('ran')"), LIMITS)
        assert result.ending is Ending.SANDBOX_FAILED
        assert why in result.why
        assert not result.ending.is_evidence


@pytest.mark.parametrize(
    "words",
    [
        "kill -9 $$",
        # Its first process is gone when it is looked for.
        """printf '{"child-pid": 4000000}' >&$status; exit 137""",
    ],
)
def test_a_box_that_is_killed_before_its_program_begins_was_killed(
    tmp_path: Path, words: str
) -> None:
    launcher = tmp_path / "bwrap"
    find = """status=$(tr '\\0' '\\n' <&$2 | sed -n '/--json-status-fd/{n;p}')"""
    launcher.write_text(f"#!/bin/bash\n{find}\n{words}\n")
    launcher.chmod(0o755)
    result = Bubblewrap(str(launcher)).run(python("print('ran')"), LIMITS)
    assert (result.ending, result.why) == (Ending.KILLED, KILLED_EARLY)
    assert not result.ending.is_evidence


@pytest.mark.parametrize(
    ("status", "raised"),
    [(9, LauncherKilled), (137 << 8, LauncherKilled), (1 << 8, BoxBroke), (136 << 8, BoxBroke)],
)
def test_a_launcher_that_ends_without_a_word_of_the_program(
    status: int, raised: type[BoxBroke]
) -> None:
    reader, writer = os.pipe()
    os.close(writer)
    with pytest.raises(BoxBroke) as caught:
        Status(reader, by_shell=False).ended(status)
    os.close(reader)
    assert type(caught.value) is raised


def test_a_real_box_whose_first_process_is_killed_while_it_waits() -> None:
    def hold(box: Started, status: Status) -> None:
        pid = status.child(time.monotonic() + 30)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        os.pidfd_open(0)

    folder = BoxFolder.make()
    try:
        with pytest.raises(LauncherKilled, match=KILLED_EARLY):
            launch(
                lambda status, gate, _: [
                    find_program("bwrap") or "",
                    *("--ro-bind", "/", "/", "--unshare-pid", "--as-pid-1"),
                    *("--json-status-fd", str(status), "--block-fd", str(gate)),
                    "/bin/true",
                ],
                hold,
                folder,
                Command(("/bin/true",)),
                environment={},
                start_in="/",
                by_shell=True,
            )
    finally:
        folder.close()


def test_what_is_missing_is_a_sentence(tmp_path: Path) -> None:
    launcher = tmp_path / "bwrap"
    launcher.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2; exit 1\n"
    )
    launcher.chmod(0o755)
    output = Bubblewrap(str(launcher)).missing()
    assert "does not work here" in output
    assert "user.max_user_namespaces" in output
    assert "apt install bubblewrap" in Bubblewrap(str(tmp_path / "absent")).missing()


def test_many_boxes_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        results = list(
            pool.map(lambda n: Bubblewrap().run(python(f"print({n})"), LIMITS), range(24))
        )
    assert [result.output for result in results] == [f"{n}\n" for n in range(24)]


def test_nothing_stays_open_and_no_process_is_left() -> None:
    Bubblewrap().run(python("pass"), LIMITS)
    before = len(list(Path("/proc/self/fd").iterdir()))
    children = {child.pid for child in psutil.Process().children()}
    for wall in (60, 0.1):
        Bubblewrap().run(python("import time; time.sleep(0.3)"), Limits(wall_s=wall))
    Bubblewrap().run(Command(("true",), stdin=b"unread" * 100_000), LIMITS)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert {child.pid for child in psutil.Process().children()} <= children
