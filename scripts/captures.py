"""Captures of docs/img/terminal: the main commands as a user sees them, in a terminal.

    .venv/bin/python scripts/captures.py [FOLDER]

With FOLDER all of them, in terminals of 80 and of 120 columns, as text and as SVG; without, those that a page
of the documentation shows. The tests capture the same commands and look at what came out.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent.parent
IMAGES = HERE / "docs" / "img" / "terminal"
REENACT = (sys.executable, "-m", "reenact")
WIDTHS = (80, 120)
COMMANDS = {
    "diagnose": "diagnose train.py",
    "repair": "repair --budget 4x train.py",
    "lint": "lint broken",
    "explain": "explain RE019",
    "explain-word": "explain zero_grad",
    "runs": "runs list",
    "rules": "rules learning",
    "config": "config",
    "unknown": "diagnos train.py",
}
"""Every capture by its name; those that train come first, so that the list of runs has
something to show.
"""
IN_PAGES = ("diagnose", "repair")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
FONTS = re.compile(r"@font-face \{[^}]*\}")


@dataclass(frozen=True, slots=True)
class Capture:
    """What a command left on a terminal."""

    command: str
    columns: int
    output: str
    """What stdout got, with its escape codes."""
    notes: str
    """What stderr got: progress and errors."""
    exit_code: int

    @property
    def text(self) -> str:
        return ESCAPES.sub("", self.output)

    @property
    def svg(self) -> str:
        """A picture of the terminal; an error is part of it. Nothing is fetched for it."""
        from rich.console import Console
        from rich.text import Text

        console = Console(record=True, width=self.columns, file=io.StringIO())
        console.print(Text.from_ansi(f"$ reenact {self.command}\n{self.output or self.notes}"))
        picture = console.export_svg(title=f"reenact {self.command.split()[0]}")
        return FONTS.sub("", picture).replace("Fira Code, monospace", "monospace")

    def write(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, content in (("txt", self.text or self.notes), ("svg", self.svg)):
            (folder / f"{name}-{self.columns}.{ending}").write_text(content, encoding="utf-8")


def capture(
    command: str,
    folder: Path,
    columns: int = 80,
    *,
    color: bool = True,
    program: tuple[str, ...] = REENACT,
) -> Capture:
    """Run it in a terminal of so many columns, which only stdout is: progress is not part of
    the result.
    """
    environ = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")
    }
    environ |= {"TERM": "xterm-256color"} if color else {"TERM": "xterm-256color", "NO_COLOR": "1"}
    line = [*program, *command.split()]
    with tempfile.TemporaryFile() as noted:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen(line, cwd=folder, env=environ, stdout=theirs, stderr=noted)  # noqa: S603
        os.close(theirs)
        output = _read(ours)
        exit_code = process.wait()
        noted.seek(0)
        notes = noted.read().decode()
    return Capture(command, columns, output.replace("\r\n", "\n"), notes, exit_code)


def _read(terminal: int) -> str:
    parts = []
    try:
        while part := os.read(terminal, 65_536):
            parts.append(part)
    except OSError:  # Linux says so when the other side is closed and all was read.
        pass
    os.close(terminal)
    return b"".join(parts).decode()


def prepare(folder: Path) -> None:
    """The programs that the commands are about."""
    shutil.copy(HERE / "src" / "reenact" / "demo" / "cases" / "train.py", folder)
    shutil.copytree(HERE / "examples" / "broken", folder / "broken")


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        prepare(folder)
        if len(sys.argv) > 1:
            for name, command in COMMANDS.items():
                for columns in WIDTHS:
                    capture(command, folder, columns).write(Path(sys.argv[1]), name)
            return
        IMAGES.mkdir(parents=True, exist_ok=True)
        for name in IN_PAGES:
            picture = capture(COMMANDS[name], folder).svg
            (IMAGES / f"{name}-80.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
