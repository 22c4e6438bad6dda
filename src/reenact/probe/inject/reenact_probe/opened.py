"""Writes down which files the program opens for reading and which folders it lists, as it does so.

One line of JSON a file, appended at once: a killed program and a forked loading worker lose none. Nothing is
read or hashed here; that is done after the run by the process that watches. Where the program does what this
cannot see (another program, a network, a library that opens files below Python), the reason is a line too.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from reenact_probe import late
from reenact_probe.types import Args, Module

NAME = "opened.jsonl"
MOST = 20_000
"""Files; of a program that opens more it is only noted that it does."""
BELOW_PYTHON = frozenset((
    "av", "cv2", "decord", "duckdb", "ffcv", "grpc", "jpeg4py", "lmdb", "mxnet", "netCDF4", "nvidia.dali",
    "openslide", "polars", "pyarrow.csv", "pyarrow.dataset", "pyarrow.feather", "pyarrow.fs",
    "pyarrow.json", "pyarrow.orc", "pyarrow.parquet", "pyvips", "rasterio", "rdkit", "safetensors.torch",
    "sentencepiece", "SimpleITK", "soundfile", "tables", "tensorflow", "tokenizers", "torchaudio",
    "torchcodec", "torchdata",
))  # fmt: skip
"""Modules whose files no event of Python tells of."""
OPENERS = (
    ("h5py", "h5f.open", os.O_RDONLY),
    ("h5py", "h5f.create", os.O_WRONLY),
    ("torchvision.io.image", "read_file", os.O_RDONLY),
    ("torch.serialization", "_open_zipfile_writer", os.O_WRONLY),
)
"""Modules and their functions that open files without an event, for reading or for writing."""
_START = "it starts another program"
_STARTS = ("subprocess.Popen", "os.system", "os.posix_spawn", "os.spawn", "pty.spawn")
STARTS = {**dict.fromkeys(_STARTS, _START), "os.exec": "it becomes another program"}
ASKING = ("platform.py", "uuid.py", os.path.join("ctypes", "util.py"))
"""Files of the standard library that start small programs to ask what machine this is."""
_NOT_DATA = ("/proc/", "/sys/", "/dev/")
_INSTALLED = ("/site-packages/", "/dist-packages/")

_noting = None


def install(folder: str) -> None:
    """Begin; called once in each interpreter of the program."""
    global _noting
    if _noting is None:
        _noting = _Noting(folder)
        _noting.line({"process": os.getpid()})
        sys.addaudithook(_noting.on_event)
        for module, path, flags in OPENERS:
            library = module.partition(".")[0]
            late.when_imported(module, functools.partial(_noting.listen, library, path, flags))


class _Noting:
    """What one interpreter, and its forks, have written down."""

    def __init__(self, folder: str) -> None:
        self.target = os.path.join(folder, NAME)
        self.seen: set[Any] = set()
        self.written: set[str] = set()
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self.ours = (folder + os.sep, here + os.sep, os.path.dirname(os.__file__) + os.sep)
        self.importlib = os.path.join(os.path.dirname(os.__file__), "importlib") + os.sep
        self.events = {
            "open": self._open,
            "os.listdir": self._listed,
            "os.scandir": self._listed,
            "sqlite3.connect": self._connected,
            "ctypes.dlopen": self._loaded,
            "socket.connect": self._network,
            "import": self._imported,
        }
        for event, why in STARTS.items():
            self.events[event] = functools.partial(self._started, why)

    def on_event(self, event: str, args: Args) -> None:
        """The audit hook: one look-up for everything that does not matter."""
        note = self.events.get(event)
        if note is None:
            return
        try:
            note(args)
        except Exception as error:  # noqa: BLE001 - an error in a hook would end what the program does
            self.events = {}
            # No space for one line: neither is there space for the journal that would believe the list.
            with contextlib.suppress(OSError):
                self.line({"blind": f"the list of opened files broke off ({type(error).__name__})"})

    def listen(self, library: str, path: str, flags: int, module: Module) -> None:
        """A library that opens files itself: a function that asks it to is listened to."""
        within, _, name = path.rpartition(".")
        owner = getattr(module, within, None) if within else module
        function = getattr(owner, name, None)
        if function is None:
            self._blind(f"{library} opens files that cannot be seen")
            return

        def listened(path: Any, *args: Any, **named: Any) -> Any:
            if isinstance(path, (str, bytes, os.PathLike)):
                self.on_event("open", (path, "", flags))
            return function(path, *args, **named)

        setattr(owner, name, listened)

    def line(self, content: Any) -> None:
        """Append one line, whatever became of files that were open before."""
        handle = os.open(self.target, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, (json.dumps(content) + "\n").encode("ascii"))
        finally:
            os.close(handle)

    def _open(self, args: Args) -> None:
        name, flags = _full(args[0]), args[2] or 0
        if flags & (os.O_TRUNC | os.O_EXCL) or (flags & os.O_ACCMODE) == os.O_WRONLY:
            self.written.add(name or "")
        elif name != self.target:
            self._note("file", name and _source(name))

    def _connected(self, args: Args) -> None:
        self._note("file", _full(args[0]))

    def _loaded(self, args: Args) -> None:
        # A library that is asked for by its name alone is one of the system.
        if args[0] and os.sep in os.fsdecode(args[0]):
            self._connected(args)

    def _listed(self, args: Args) -> None:
        # To find a module the import system lists its folders; which names it found, its imports tell.
        if not next(_callers()).startswith(("<frozen importlib", self.importlib)):
            self._note("folder", _full(args[0] if args and args[0] is not None else "."))

    def _started(self, why: str, _: Any) -> None:
        here = os.path.dirname(os.__file__) + os.sep
        asking = [file for file in _callers() if file.startswith(here) and file[len(here) :] in ASKING]
        if not asking:
            self._blind(why)

    def _network(self, args: Args) -> None:
        # The address of a socket of the machine itself is a path.
        if not isinstance(args[1], (str, bytes)):
            self._blind("it uses the network")

    def _imported(self, args: Args) -> None:
        if args[0] in BELOW_PYTHON:
            self._blind(f"{args[0]} opens files that cannot be seen")

    def _note(self, kind: str, name: str | None) -> None:
        if name is None or name in self.written or (kind, name) in self.seen:
            return
        slashed = name + os.sep
        if slashed.startswith(_NOT_DATA + self.ours) or any(part in slashed for part in _INSTALLED):
            # Of the interpreter, an installed package or ours: their versions say what they hold.
            return
        self.seen.add((kind, name))
        if len(self.seen) > MOST:
            self._blind(f"it opens more than {MOST} files")
            self.events = {}
        else:
            self.line({kind: name})

    def _blind(self, why: str) -> None:
        if why not in self.seen:
            self.seen.add(why)
            self.line({"blind": why})


def _full(path: str) -> str | None:
    """The path from the root; none for a descriptor, which somebody opened by its path before."""
    if isinstance(path, int):
        return None
    name = os.fsdecode(path)
    if name.startswith("file:"):
        name = name[5:].split("?")[0]
    if name == ":memory:" or not name:
        return None
    return os.path.normpath(os.path.join(os.getcwd(), name))


def _source(name: str) -> str:
    """The source of a compiled module: that is what decides whether the compiled one counts."""
    folder, file = os.path.split(name)
    if os.path.basename(folder) != "__pycache__" or not file.endswith(".pyc"):
        return name
    return os.path.join(os.path.dirname(folder), file.partition(".")[0] + ".py")


def _callers() -> Iterator[str]:
    """Files on the way to what the hook was called for, that of the code which did it first."""
    files = (frame.f_code.co_filename for frame, _ in traceback.walk_stack(sys._getframe(1)))
    yield from (file for file in files if file != __file__)
    yield ""
