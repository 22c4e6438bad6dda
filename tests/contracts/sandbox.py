"""What every sandbox must do. A tier's test inherits one of these classes and gives the fixture
`sandbox`.

`SandboxContract` holds for every tier, also for the one that protects from nothing: endings are
named, limits end a program, output is bounded and clean, results are collected with care, nothing
is left behind. `ContainmentContract` adds what a tier that claims to contain untrusted programs
must keep in.
"""

import os
import socket
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from reenact.errors import InputError
from reenact.sandbox.box import MIB, BoxResult, Command, Ending, Limits, Mount, Sandbox
from reenact.sandbox.files.folder import boxes
from reenact.types import Stop

SECRET = "sk-conformance-7d1f0a"
LIMITS = Limits(wall_s=60, memory_bytes=512 * MIB, disk_bytes=64 * MIB, processes=64)


ENDINGS = (
    ("print('hello')", LIMITS, Ending.OK, 0, "hello\n"),
    ("import sys; sys.exit('wrong')", LIMITS, Ending.EXIT, 1, "wrong"),
    ("import os; os.abort()", LIMITS, Ending.SIGNAL, None, ""),
    (
        "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)",
        Limits(wall_s=0.5),
        Ending.TIMEOUT,
        None,
        "wall time",
    ),
    (
        "while True: pass",
        Limits(wall_s=120, cpu_s=0.3),
        Ending.TIMEOUT,
        None,
        "cpu time",
    ),
)
LIMITED = {
    Ending.MEMORY_LIMIT: (
        "import time\nheld = []\n"
        "for _ in range(200): held.append(bytearray(b'x') * 2**22); time.sleep(0.005)",
        Limits(wall_s=60, memory_bytes=128 * MIB),
    ),
    Ending.PROCESS_LIMIT: (
        "import os, time\nfor _ in range(200):\n    if not os.fork(): time.sleep(60); os._exit(0)\n"
        "    time.sleep(0.002)",
        Limits(processes=24),
    ),
    Ending.DISK_LIMIT: (
        "import time\nsink = open('large', 'wb', 0)\n"
        "for _ in range(200): sink.write(b'x' * 2**20); time.sleep(0.005)",
        Limits(disk_bytes=16 * MIB),
    ),
    Ending.FILE_LIMIT: (
        "for n in range(5000): open(f'file{n}', 'w').close()",
        Limits(files=300),
    ),
    Ending.OUTPUT_LIMIT: (
        "import os\nwhile True: os.write(1, b'x' * 65536)",
        Limits(output_bytes=MIB),
    ),
}
"""What ends a program, a program that it ends, and the limits."""


def python(program: str, *words: str) -> Command:
    """A command that runs a Python program given as text."""
    return Command((sys.executable, "-I", "-c", textwrap.dedent(program), *words))


class SandboxContract:
    """The conformance suite of any tier."""

    @pytest.fixture
    def sandbox(self) -> Sandbox:
        raise pytest.UsageError("A subclass of SandboxContract gives the fixture `sandbox`.")

    def run(self, sandbox: Sandbox, command: Command, limits: Limits = LIMITS) -> BoxResult:
        result = sandbox.run(command, limits)
        assert result.tier == sandbox.name
        return result

    @pytest.mark.parametrize(("program", "limits", "ending", "code", "words"), ENDINGS)
    def test_endings(
        self,
        sandbox: Sandbox,
        program: str,
        limits: Limits,
        ending: Ending,
        code: int | None,
        words: str,
    ) -> None:
        result = self.run(sandbox, python(program), limits)
        assert (result.ending, result.exit_code) == (ending, code), result
        assert words in f"{result.output}{result.why}"
        assert result.ok == (ending is Ending.OK)
        assert result.signal == (6 if ending is Ending.SIGNAL else result.signal)
        assert result.wall_s > 0

    @pytest.mark.parametrize("ending", LIMITED)
    def test_a_limit_ends_the_program(self, sandbox: Sandbox, ending: Ending) -> None:
        program, limits = LIMITED[ending]
        result = self.run(sandbox, python(program), limits)
        assert result.ending is ending, result
        assert len(result.output) < 2 * Limits().keep_bytes
        assert ending is not Ending.MEMORY_LIMIT or result.peak_memory_bytes >= 64 * MIB

    def test_output_comes_while_it_is_printed_and_a_stop_is_obeyed(self, sandbox: Sandbox) -> None:
        stop, received = Stop(), bytearray()

        def listen(part: bytes) -> None:
            received.extend(part)
            if b"ready" in received:
                stop.ask()

        program = python("import time; print('ready', flush=True); time.sleep(600)")
        result = sandbox.run(program, LIMITS, on_output=listen, stop=stop)
        assert result.ending is Ending.CANCELLED, result
        assert result.output == "ready\n"

    def test_a_stop_before_the_start(self, sandbox: Sandbox) -> None:
        stop = Stop()
        stop.ask()
        result = sandbox.run(python("print('ran')"), LIMITS, stop=stop)
        assert (result.ending, result.output) == (Ending.CANCELLED, "")

    def test_a_listener_that_fails_changes_nothing(self, sandbox: Sandbox) -> None:
        def listen(part: bytes) -> None:
            raise RuntimeError(f"cannot take {len(part)} bytes")

        result = sandbox.run(python("print('one'); print('two')"), LIMITS, on_output=listen)
        assert (result.ending, result.output) == (Ending.OK, "one\ntwo\n")
        assert [event.kind for event in result.events] == ["listener-failed"]

    def test_long_output_is_kept_as_head_and_tail(self, sandbox: Sandbox) -> None:
        program = python("for n in range(20000): print('line', n)")
        result = self.run(sandbox, program, Limits(keep_bytes=4096))
        assert result.ok
        assert result.output.startswith("line 0\n")
        assert result.output.endswith("line 19999\n")
        assert (
            f"[... {result.output_dropped_bytes} bytes of output left out here ...]"
            in result.output
        )

    def test_control_sequences_and_broken_text_are_removed(self, sandbox: Sandbox) -> None:
        program = r"import os; os.write(1, b'\x1b]52;c;AAAA\x07a\x1b[31mb\x00\xffc\r\nd\n')"
        assert self.run(sandbox, python(program)).output == "ab\ufffdc\nd\n"

    @pytest.mark.parametrize(
        ("given", "digest"), [(b"", "e3b0c442"), (b"0123456789" * 100_000, "ec21d646")]
    )
    def test_input_is_given_and_none_is_an_empty_one(
        self, sandbox: Sandbox, given: bytes, digest: str
    ) -> None:
        program = (
            "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest()[:8])"
        )
        command = Command((sys.executable, "-I", "-c", program), stdin=given)
        assert self.run(sandbox, command).output == f"{digest}\n"

    def test_files_and_workspace_are_there_and_the_original_stays(
        self, sandbox: Sandbox, tmp_path: Path
    ) -> None:
        (tmp_path / "package").mkdir()
        (tmp_path / "package" / "data.txt").write_text("original")
        command = Command(
            (sys.executable, "main.py"),
            files={
                "main.py": (
                    b"p = 'package/data.txt'; print(open(p).read()); open(p, 'w').write('changed')"
                )
            },
            workspace=tmp_path,
        )
        assert self.run(sandbox, command).output == "original\n"
        assert (tmp_path / "package" / "data.txt").read_text() == "original"
        assert not (tmp_path / "main.py").exists()

    def test_results_come_back(self, sandbox: Sandbox) -> None:
        program = "import os; os.mkdir('out'); open('out/result.json', 'w').write('{}')"
        command = Command(
            (sys.executable, "-c", program), collect=("out/result.json", "absent.txt")
        )
        result = self.run(sandbox, command)
        assert result.results == {"out/result.json": b"{}"}
        assert [(event.kind, event.detail) for event in result.events] == [
            ("result-missing", "absent.txt")
        ]

    def test_a_result_that_is_a_link_is_refused(self, sandbox: Sandbox) -> None:
        program = "import os; os.symlink('/etc/passwd', 'result.json')"
        result = self.run(
            sandbox, Command((sys.executable, "-c", program), collect=("result.json",))
        )
        assert (result.ending, result.results) == (Ending.RESULT_REFUSED, {})
        assert "symbolic link" in result.why

    def test_the_environment_is_clean(
        self, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SOME_API_KEY", SECRET)
        monkeypatch.setenv("https_proxy", f"http://user:{SECRET}@127.0.0.1:9")
        program = "import os; print(dict(os.environ)); print(open('/proc/self/environ').read())"
        command = Command((sys.executable, "-c", program), environment={"ADDED": "by the caller"})
        result = self.run(sandbox, command)
        assert "by the caller" in result.output
        assert SECRET not in result.output

    def test_home_and_temporary_folder_are_its_own(self, sandbox: Sandbox) -> None:
        program = """
            import pathlib, tempfile
            assert not list(pathlib.Path.home().iterdir())
            (pathlib.Path.home() / ".cache").mkdir()
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "file").write_text("x")
        """
        result = self.run(sandbox, python(program))
        assert result.ok, result.output

    def test_what_a_program_leaves_running_is_ended(self, sandbox: Sandbox) -> None:
        mark = f"left-{os.urandom(8).hex()}"
        program = """
            import os, subprocess, sys
            wait = "import time; print('up', flush=True); time.sleep(600)"
            line = [sys.executable, "-I", "-c", wait, sys.argv[1]]
            left = subprocess.Popen(line, start_new_session=True, stdout=subprocess.PIPE)
            left.stdout.readline()
        """
        assert self.run(sandbox, python(program, mark)).ok
        assert not _alive(mark)

    def test_nothing_is_left_on_the_host(self, sandbox: Sandbox) -> None:
        program = (
            "import os\nfor n in range(50): os.makedirs('a/b' * n or 'c', 0o700)\nos.chmod('c', 0)"
        )
        before = set(_boxes())
        self.run(sandbox, python(program))
        assert set(_boxes()) <= before

    def test_a_wrong_command_is_refused(self, sandbox: Sandbox, tmp_path: Path) -> None:
        wrong = (
            Command(()),
            Command(("true\0",)),
            Command(("true",), collect=("../outside",)),
            Command(("true",), files={"/etc/passwd": b""}),
            Command(("true",), workspace=tmp_path / "absent"),
            Command(("true",), mounts=(Mount(tmp_path / "absent", "/data"),)),
            Command(("true",), mounts=(Mount(tmp_path, "/proc"),)),
            Command(("true",), environment={"A=B": "c"}),
        )
        for command in wrong:
            with pytest.raises(InputError, match="Received"):
                sandbox.run(command, LIMITS)

    def test_it_says_what_it_does_not_stop(self, sandbox: Sandbox) -> None:
        assert sandbox.missing() == ""
        assert all(sandbox.does_not_stop())


class ContainmentContract(SandboxContract):
    """What a tier that claims to contain untrusted programs keeps in."""

    def test_a_file_outside_is_not_read(self, sandbox: Sandbox, tmp_path: Path) -> None:
        (tmp_path / "secret.txt").write_text(SECRET)
        result = self.run(
            sandbox,
            python("import sys; print(open(sys.argv[1]).read())", f"{tmp_path}/secret.txt"),
        )
        assert result.ending is Ending.EXIT, result
        assert SECRET not in result.output

    def test_a_file_outside_is_not_written(self, sandbox: Sandbox, tmp_path: Path) -> None:
        program = "import sys; open(sys.argv[1] + '/planted', 'w').write('x')"
        self.run(sandbox, python(program, str(tmp_path)))
        assert not list(tmp_path.iterdir())

    def test_a_service_of_the_host_is_not_reached(self, sandbox: Sandbox) -> None:
        with socket.create_server(("127.0.0.1", 0)) as service:
            service.settimeout(0.2)
            program = (
                "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 2)"
            )
            result = self.run(sandbox, python(program, str(service.getsockname()[1])))
            assert result.ending is Ending.EXIT, result
            with pytest.raises(TimeoutError):
                service.accept()

    def test_this_process_is_neither_read_nor_signalled(self, sandbox: Sandbox) -> None:
        program = """
            import os, sys
            number = int(sys.argv[1])
            for act in (lambda: open(f"/proc/{number}/environ").read(), lambda: os.kill(number, 0)):
                try:
                    act()
                    print("REACHED")
                except OSError as refused:
                    print(refused)
        """
        # A number that is certainly not one of the few in a namespace of its own.
        assert os.getpid() > 200
        assert "REACHED" not in self.run(sandbox, python(program, str(os.getpid()))).output


def _alive(mark: str) -> bool:
    """Whether a process with the mark among its words is alive; given a moment to be gone from
    the list.
    """
    for _ in range(40):
        lines = (process.info["cmdline"] or () for process in psutil.process_iter(["cmdline"]))
        if not any(mark in line for line in lines):
            return False
        time.sleep(0.05)
    return True


def _boxes() -> list[str]:
    return [name for name in boxes() if name.startswith(f"{os.getpid()}-")]
