"""What is planted on the host before a hostile program runs, and looked at afterwards.

Folders with secrets, a bystander process with a secret in its memory, listeners on loopback and on
unix sockets, a key in the kernel's keyring, a tripwire. A program is shown where everything is: a
strong attacker, who only lacks the way. Its own word counts only where no fact of the host can be
had.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import reenact
from benchmarks.children import ROOT
from benchmarks.hostile.keys import Keyring
from benchmarks.hostile.look import (
    differing,
    litter,
    remove_shared_memory,
    shared_memory_keys,
    snapshot,
)
from reenact.sandbox.files.cleanup import remove_tree

FOLDERS = ("home", "outside", "graders", "workspace")
SECRET = "CANARYSECRET-"  # noqa: S105 - a marker, not a secret
_HOME = (
    ".ssh/id_ed25519",
    ".netrc",
    ".aws/credentials",
    ".cache/huggingface/token",
    ".gnupg/secring.gpg",
    ".pypirc",
    ".git-credentials",
    ".docker/config.json",
    ".config/gh/hosts.yml",
    ".local/share/keyrings/login.keyring",
)
_BYSTANDER = """
import ctypes, os, sys, time
secret = ctypes.create_string_buffer(os.environ["BYSTANDER_SECRET"].encode())
held = os.open("secret.txt", os.O_RDONLY)
print(ctypes.addressof(secret), len(secret), flush=True)
time.sleep(600)
"""


@dataclass
class Canaries:
    """Everything planted for one judgement. Use as a context: leaving it removes all."""

    nonce: str = field(default_factory=lambda: secrets.token_hex(8))
    secrets: list[str] = field(default_factory=list)
    root: Path = field(init=False)
    bystander: subprocess.Popen[str] = field(init=False)
    _lines: dict[str, socket.socket] = field(default_factory=dict)
    _before: dict[str, dict[str, str]] = field(default_factory=dict)

    def __enter__(self) -> Canaries:
        with ExitStack() as undo:
            self.root = Path(tempfile.mkdtemp(prefix="reenact-hostile-"))
            undo.callback(remove_tree, self.root)
            undo.callback(self._remove_leavings)
            self._plant_files()
            self._plant_listeners(undo)
            self.keyring = Keyring(self.nonce, self.secret())
            undo.callback(self.keyring.close)
            self._start_bystander(undo)
            self._before = {name: snapshot(self.root / name) for name in FOLDERS}
            self._undo = undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._undo.close()

    def _remove_leavings(self) -> None:
        for path in litter(self.nonce):
            remove_tree(Path(path))
        remove_shared_memory(self._shared_memory_key)

    def secret(self) -> str:
        """A new secret that must never come out of a box."""
        self.secrets.append(SECRET + secrets.token_hex(16))
        return self.secrets[-1]

    @property
    def scratch(self) -> Path:
        """The supervisor's temporary folder: empty again when a box is gone."""
        return self.root / "scratch"

    @property
    def tripwire(self) -> Path:
        """Exists once code of the program has run on the host."""
        return self.root / "tripwire"

    @property
    def port(self) -> int:
        return int(self._lines["tcp"].getsockname()[1])

    def environment(self) -> dict[str, str]:
        """What the program finds in its environment: where everything is. No secret is in it."""
        return {
            "CANARY_NONCE": self.nonce,
            "CANARY_HOME": str(self.root / "home"),
            "CANARY_OUTSIDE": str(self.root / "outside"),
            "CANARY_SOCKET": str(self.root / "sockets" / "service.sock"),
            "CANARY_ABSTRACT": f"reenact-canary-{self.nonce}",
            "CANARY_PORT": str(self.port),
            "CANARY_VICTIM": str(self.bystander.pid),
            "CANARY_ADDRESS": self._address,
            "CANARY_SIZE": self._size,
            "CANARY_PIDNS": str(Path("/proc/self/ns/pid").readlink()),
            "CANARY_TRIPWIRE": str(self.tripwire),
            "CANARY_TAG": sys.implementation.cache_tag or "",
        }

    def supervisor_environment(self) -> dict[str, str]:
        """The environment of the process that owns the box: full of secrets, as a user's is."""
        proxy = f"http://user:{self.secret()}@127.0.0.1:{self.port}"
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(Path(reenact.__file__).parents[1]))),
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.scratch),
            "LANG": "C.UTF-8",
            "OPENAI_API_KEY": self.secret(),
            "HF_TOKEN": self.secret(),
            "AWS_SECRET_ACCESS_KEY": self.secret(),
            "http_proxy": proxy,
            "HTTPS_PROXY": proxy,
        }

    def _plant_files(self) -> None:
        for name in (*FOLDERS, "scratch", "sockets"):
            (self.root / name).mkdir()
        for name in _HOME:
            place = self.root / "home" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"token {self.secret()}\n")
            place.chmod(0o600)
        outside = self.root / "outside"
        (outside / "secret.txt").write_text(self.secret() + "\n")
        (outside / "canary.txt").write_text("untouched\n")
        for folder in ("graders", "workspace"):
            (self.root / folder / "tests").mkdir()
            (self.root / folder / "data").mkdir()
            (self.root / folder / "metric.py").write_text(
                "def accuracy(a, b):\n    return float(a == b)\n"
            )
            (self.root / folder / "tests" / "test_metric.py").write_text(
                "def test_accuracy():\n    assert 0\n"
            )
            (self.root / folder / "claims.json").write_text('{"accuracy": 0.93}\n')
            (self.root / folder / "train.py").write_text("seed = 0\n")
            (self.root / folder / "data" / "rows.csv").write_text("1,2\n")

    def _plant_listeners(self, undo: ExitStack) -> None:
        # A connection waits in the backlog until it is accepted: one look afterwards tells of every
        # caller.
        tcp = socket.create_server(("127.0.0.1", 0))
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(tcp.getsockname())
        unix = socket.socket(socket.AF_UNIX)
        unix.bind(str(self.root / "sockets" / "service.sock"))
        abstract = socket.socket(socket.AF_UNIX)
        abstract.bind(f"\0reenact-canary-{self.nonce}")
        for line in (unix, abstract):
            line.listen()
        self._lines = {"tcp": tcp, "udp": udp, "unix": unix, "abstract": abstract}
        for line in self._lines.values():
            line.setblocking(False)
            undo.callback(line.close)

    def _start_bystander(self, undo: ExitStack) -> None:
        argv = [sys.executable, "-I", "-S", "-c", _BYSTANDER, self.secret()]
        self.bystander = subprocess.Popen(  # noqa: S603 - our own script
            argv,
            cwd=self.root / "outside",
            env={"BYSTANDER_SECRET": self.secret()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        undo.callback(self.bystander.communicate)
        undo.callback(self.bystander.kill)
        assert self.bystander.stdout is not None
        self._address, self._size = self.bystander.stdout.readline().split()

    def contacts(self) -> list[str]:
        """Who of the host was reached or hurt, in words."""
        found = [
            f"the {name} listener was called" for name, line in self._lines.items() if _called(line)
        ]
        found += self.keyring.found()
        if self.tripwire.exists():
            found.append("code of the program ran on the host")
        if not _alive(self.bystander):
            found.append("the bystander was killed, stopped or traced")
        return found

    def changes(self) -> list[str]:
        """What the program changed or left outside its box, in words."""
        found: list[str] = []
        for name, before in self._before.items():
            after = snapshot(self.root / name)
            found += [f"changed on the host: {name}/{path}" for path in differing(before, after)]
        found += [f"left on the host: {path}" for path in litter(self.nonce)]
        if self._shared_memory_key in shared_memory_keys():
            found.append("left on the host: a shared memory segment")
        return found

    @property
    def _shared_memory_key(self) -> int:
        return int(self.nonce[:7], 16)


def _called(line: socket.socket) -> bool:
    try:
        if line.type == socket.SOCK_DGRAM:
            return bool(line.recv(64))
        line.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _alive(process: subprocess.Popen[str]) -> bool:
    if process.poll() is not None:
        return False
    status = Path(f"/proc/{process.pid}/status").read_text()
    return "\nState:\tS" in status and "\nTracerPid:\t0\n" in status
