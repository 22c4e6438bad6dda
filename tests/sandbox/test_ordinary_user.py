"""Boxes of an ordinary user: where these tests run as root, a user without any right runs some."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = """
import json, os, sys
from reenact.sandbox.box import MIB, Command, Limits
from reenact.sandbox.tiers.bubblewrap import Bubblewrap
from reenact.sandbox.files.folder import boxes
if Bubblewrap().missing():
    sys.exit(Bubblewrap().missing())
def run(program, **limits):
    command = Command((sys.executable, "-c", program), collect=("r",))
    return Bubblewrap().run(command, Limits(wall_s=60, **limits))
memory = "held = []\\nwhile True: held.append(bytearray(b'x') * (1 << 20))"
processes = "import os, time\\nfor _ in range(2000):\\n if os.fork() == 0: time.sleep(60)\\ntime.sleep(60)"
disk = "s = open('f', 'wb')\\nwhile True: s.write(b'x' * (1 << 20))"
closed = "import os; os.makedirs('a/b'); open('a/b/c', 'w'); os.chmod('a/b', 0); os.chmod('.', 0)"
found = [
    run("print(__import__('os').getuid()); open('r', 'w').write('x')"),
    run(memory, memory_bytes=200 * MIB),
    run(processes, processes=40),
    run(disk, disk_bytes=20 * MIB),
    run(closed),
]
mine = [name for name in boxes() if name.startswith(f"{os.getpid()}-")]
print(json.dumps([found[0].output, [result.ending for result in found], len(found[0].results), mine]))
"""


def test_a_user_without_rights_has_the_same_box(open_path: Path) -> None:
    setpriv, python = shutil.which("setpriv"), "/usr/bin/python3"
    if os.getuid() != 0 or setpriv is None or not Path(python).exists():
        pytest.skip("needs root, setpriv and the system's Python")
    output = subprocess.run(
        [
            setpriv,
            "--reuid",
            "4243",
            "--regid",
            "4243",
            "--clear-groups",
            python,
            "-c",
            PROGRAM,
        ],
        env={
            "PYTHONPATH": str(SOURCE),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(open_path),
            "PATH": "/usr/bin",
        },
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if (
        "PermissionError" in output.stderr
        or "No module named" in output.stderr
        or "does not work" in output.stderr
    ):
        pytest.skip(f"another user cannot run this here: {output.stderr[-300:]}")
    assert output.returncode == 0, output.stderr
    assert json.loads(output.stdout) == [
        "1000\n",
        ["ok", "memory-limit", "process-limit", "disk-limit", "ok"],
        1,
        [],
    ]
