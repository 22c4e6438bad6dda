"""Every way to see a file changes the mark when what is seen changes, and leaves it when
nothing changes.
"""

from __future__ import annotations

import os
import sqlite3
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from reenact.probe.opened import Opened, read_opened
from reenact.probe.options import WatchOptions
from reenact.probe.watch import watch
from reenact.program.program import read_program

NUMBERS = bytes(range(64))
OTHERS = bytes(reversed(range(64)))


def opened_by(work: Path, text: str, trace: Path) -> Opened:
    """What a watched run of this program looked at."""
    (work / "train.py").write_text(textwrap.dedent(text))
    watched = watch(read_program(("train.py",), work), WatchOptions(trace, note_opened=True))
    assert watched.outcome.exit_code == 0, watched.outcome
    return read_opened(trace, [work / "train.py"])


def write(name: str, content: bytes | str) -> Callable[[Path], None]:
    """Leaves a file in the folder of the program."""
    body = content if isinstance(content, bytes) else content.encode()

    def effect(work: Path) -> None:
        (work / name).parent.mkdir(exist_ok=True)
        if (work / name).is_symlink():
            (work / name).unlink()
        (work / name).write_bytes(body)

    return effect


def link_to(name: str) -> Callable[[Path], None]:
    def effect(work: Path) -> None:
        (work / "data").unlink(missing_ok=True)
        (work / "data").symlink_to(name)

    return effect


def table(number: int) -> Callable[[Path], None]:
    def effect(work: Path) -> None:
        (work / "data.db").unlink(missing_ok=True)
        connection = sqlite3.connect(work / "data.db")
        connection.execute("CREATE TABLE numbers (one INTEGER)")
        connection.execute("INSERT INTO numbers VALUES (?)", (number,))
        connection.commit()
        connection.close()

    return effect


def execute_for(name: str, *, allowed: bool) -> Callable[[Path], None]:
    def effect(work: Path) -> None:
        (work / name).write_bytes(b"")
        (work / name).chmod(0o700 if allowed else 0o600)

    return effect


def both(*effects: Callable[[Path], None]) -> Callable[[Path], None]:
    def effect(work: Path) -> None:
        for one in effects:
            one(work)

    return effect


def folder(name: str) -> Callable[[Path], None]:
    return lambda work: (work / name).mkdir()


def nothing(_: Path) -> None:
    return None


@dataclass(frozen=True)
class Kind:
    """A program, what lies in its folder, and what changes there."""

    text: str
    before: Callable[[Path], None]
    after: Callable[[Path], None]
    needs: str = ""


KINDS = {
    "open": Kind("open('data').read()", write("data", "1"), write("data", "2")),
    "os.open": Kind("import os; os.open('data', 0)", write("data", "1"), write("data", "2")),
    "exists": Kind("import os; os.path.exists('flag')", nothing, write("flag", "")),
    "access": Kind(
        "import os; os.access('tool', os.X_OK)",
        execute_for("tool", allowed=False),
        execute_for("tool", allowed=True),
    ),
    "size": Kind("import os; os.stat('data').st_size", write("data", "1"), write("data", "12")),
    "readlink": Kind("import os; os.readlink('data')", link_to("first"), link_to("second")),
    "lstat": Kind("import os; os.path.islink('data')", link_to("first"), write("data", "1")),
    "listing": Kind("import os; os.listdir('parts')", write("parts/a", ""), write("parts/b", "")),
    "listing of its own folder": Kind(
        "import glob; glob.glob('*.csv')", nothing, write("b.csv", "")
    ),
    "sizes of listed files": Kind(
        (
            "import os\nfor name in os.listdir('parts'):\n    "
            "os.path.getsize(os.path.join('parts', name))"
        ),
        write("parts/a", "1"),
        write("parts/a", "12"),
    ),
    "sizes while listing": Kind(
        "import os\nfor entry in os.scandir('parts'):\n    entry.stat().st_size",
        write("parts/a", "1"),
        write("parts/a", "12"),
    ),
    "a folder that it makes sure of": Kind(
        "import os; os.makedirs('parts', exist_ok=True); os.listdir('parts')",
        folder("parts"),
        write("parts/a", ""),
    ),
    "a folder with a file without a name": Kind(
        "import os, tempfile; tempfile.TemporaryFile(dir='parts'); os.listdir('parts')",
        folder("parts"),
        write("parts/a", ""),
    ),
    "a file that another seed draws": Kind(
        "import os; open('parts/' + sorted(os.listdir('parts'))[0]).read()",
        both(write("parts/a.png", "1"), write("parts/b.png", "1")),
        write("parts/b.png", "2"),
    ),
    "a move that fails": Kind(
        (
            "import os\ntry:\n    os.replace('incoming', 'data')\nexcept OSError:\n    "
            "pass\nopen('data').read()"
        ),
        write("data", "1"),
        write("data", "2"),
    ),
    "a move of what came": Kind(
        (
            "import os\nif os.path.exists('incoming'):\n    os.replace('incoming', "
            "'data')\nopen('data').read()"
        ),
        write("data", "1"),
        write("incoming", "2"),
    ),
    "a second name": Kind(
        "import os; os.link('data', 'other'); open('other').read(); os.unlink('other')",
        write("data", "1"),
        write("data", "2"),
    ),
    "its own link": Kind(
        "import os; os.symlink('data', 'other'); open('other').read(); os.unlink('other')",
        write("data", "1"),
        write("data", "2"),
    ),
    "a link where something is": Kind(
        (
            "import os\ntry:\n    os.symlink('data', 'flag'); os.unlink('flag')\nexcept OSError:\n "
            "   pass"
        ),
        nothing,
        write("flag", ""),
    ),
    "a lock": Kind(
        (
            "import os\ntry:\n    open('lock', 'x').close(); os.unlink('lock')\nexcept OSError:\n  "
            "  pass"
        ),
        nothing,
        write("lock", ""),
    ),
    "times": Kind(
        "import os\ntry:\n    os.utime('flag')\nexcept OSError:\n    pass",
        nothing,
        write("flag", ""),
    ),
    "mode": Kind(
        "import os\ntry:\n    os.chmod('flag', 0o600)\nexcept OSError:\n    pass",
        nothing,
        write("flag", ""),
    ),
    "owner": Kind(
        "import os\ntry:\n    os.chown('flag', -1, -1)\nexcept OSError:\n    pass",
        nothing,
        write("flag", ""),
    ),
    "truncate": Kind(
        "import os\ntry:\n    os.truncate('flag', 0)\nexcept OSError:\n    pass",
        nothing,
        write("flag", ""),
    ),
    "attributes": Kind(
        "import os\ntry:\n    os.setxattr('flag', b'user.a', b'1')\nexcept OSError:\n    pass",
        nothing,
        write("flag", ""),
    ),
    "a log that is begun": Kind("open('log', 'a').tell()", write("log", ""), write("log", "1")),
    "writing without making": Kind(
        "import os\ntry:\n    os.open('flag', os.O_WRONLY)\nexcept OSError:\n    pass",
        nothing,
        write("flag", ""),
    ),
    "a folder by its handle": Kind(
        "import os; here = os.open('parts', os.O_RDONLY); os.open('a', os.O_RDONLY, dir_fd=here)",
        write("parts/a", "1"),
        write("parts/a", "2"),
    ),
    "another current folder": Kind(
        "import os; os.chdir('parts'); open('a').read()",
        write("parts/a", "1"),
        write("parts/a", "2"),
    ),
    "by way of /proc": Kind(
        "open('/proc/self/cwd/data').read()", write("data", "1"), write("data", "2")
    ),
    "ctypes": Kind(
        "import ctypes; ctypes.CDLL(None).fopen(b'data', b'r')",
        write("data", "1"),
        write("data", "2"),
    ),
    "a memory map": Kind(
        (
            "import mmap; file = open('data', 'rb'); mmap.mmap(file.fileno(), 0, "
            "prot=mmap.PROT_READ)[:]"
        ),
        write("data", NUMBERS),
        write("data", OTHERS),
    ),
    "sqlite": Kind(
        "import sqlite3; sqlite3.connect('data.db').execute('SELECT one FROM numbers').fetchall()",
        table(1),
        table(2),
    ),
    "another program": Kind(
        "import subprocess; subprocess.run(['cat', 'data'])",
        write("data", "1"),
        write("data", "2"),
    ),
    "a shell": Kind("import os; os.system('test -e flag')", nothing, write("flag", "")),
    "a forked worker": Kind(
        """
        import os
        child = os.fork()
        if child == 0:
            open("data").read()
            os._exit(0)
        os.waitpid(child, 0)
        """,
        write("data", "1"),
        write("data", "2"),
    ),
    "a spawned worker": Kind(
        """
        import multiprocessing, reading
        if __name__ == "__main__":
            worker = multiprocessing.get_context("spawn").Process(target=reading.read)
            worker.start()
            worker.join()
        """,
        both(
            write("data", "1"),
            write("reading.py", "def read():\n    open('data').read()\n"),
        ),
        write("data", "2"),
    ),
    "a thread": Kind(
        (
            "import threading; t = threading.Thread(target=lambda: open('data').read()); "
            "t.start(); t.join()"
        ),
        write("data", "1"),
        write("data", "2"),
    ),
    "a dynamic import": Kind(
        "import importlib; importlib.import_module('plug' + 'in')",
        write("plugin.py", "rate = 1\n"),
        write("plugin.py", "rate = 22\n"),
    ),
    "a module that appears": Kind(
        (
            "import importlib\ntry:\n    importlib.import_module('plug' + 'in')\nexcept "
            "ImportError:\n    pass\n"
        ),
        nothing,
        write("plugin.py", "rate = 1\n"),
    ),
    "numpy.memmap": Kind(
        "import numpy; numpy.memmap('data', mode='r').sum()",
        write("data", NUMBERS),
        write("data", OTHERS),
        "numpy",
    ),
    "torch.from_file": Kind(
        "import torch; torch.from_file('data', size=16)",
        write("data", NUMBERS),
        write("data", OTHERS),
        "torch",
    ),
    "torch storage": Kind(
        "import torch; torch.UntypedStorage.from_file('data', False, 64)",
        write("data", NUMBERS),
        write("data", OTHERS),
        "torch",
    ),
}


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", KINDS)
def test_each_way_to_see_a_file_counts(tmp_path: Path, name: str) -> None:
    kind = KINDS[name]
    if kind.needs:
        pytest.importorskip(kind.needs)
    work = tmp_path / "work"
    work.mkdir()
    kind.before(work)
    first = opened_by(work, kind.text, tmp_path / "traces" / "1")
    assert first.blind == ()
    again = opened_by(work, kind.text, tmp_path / "traces" / "2")
    assert again.differing(first) == []
    assert again.digest == first.digest
    assert again.is_unchanged()
    kind.after(work)
    assert not again.is_unchanged()
    changed = opened_by(work, kind.text, tmp_path / "traces" / "3")
    assert changed.digest != again.digest


def test_the_middle_of_a_large_file_counts_though_its_time_is_kept(
    tmp_path: Path,
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    large = work / "data"
    with large.open("wb") as file:
        file.truncate(80 << 20)
    first = opened_by(work, "open('data')", tmp_path / "traces" / "1")
    assert [file.whole for file in first.files if file.path == str(large)] == [False]
    assert opened_by(work, "open('data')", tmp_path / "traces" / "2").digest == first.digest
    was = large.stat()
    with large.open("r+b") as file:
        file.seek(40 << 20)
        file.write(b"other")
    os.utime(large, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert not first.is_unchanged()
    assert opened_by(work, "open('data')", tmp_path / "traces" / "3").digest != first.digest
