"""How many of our files a static diagnosis executes: what a reader must know to follow one.

    python scripts/touched.py examples/broken/torch_spirals.py

A file counts when its code ran, its import included. Faults are one a file each and are counted apart.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path


def touched(program: Path) -> list[Path]:
    """The files of the package that ran, from its root."""
    from reenact.cli.edge import guarded
    from reenact.cli.main import reenact as command

    program = program.resolve()
    with (
        tempfile.TemporaryDirectory(prefix="touched-") as folder,
        contextlib.redirect_stdout(io.StringIO()),
    ):
        os.environ["REENACT_RUNS_DIR"] = folder
        os.chdir(program.parent)
        guarded(command, ["diagnose", "--depth", "static", program.name])
    root = Path(sys.modules["reenact"].__file__ or "").parent
    files = {
        Path(module.__file__)
        for module in sys.modules.values()
        if getattr(module, "__file__", None)
    }
    return sorted(path.relative_to(root) for path in files if path.is_relative_to(root))


def main(words: list[str]) -> int:
    """Print the count by package, faults apart."""
    files = touched(Path(words[0] if words else "examples/broken/torch_spirals.py"))
    outside = [path for path in files if path.parts[0] != "faults"]
    for package, count in Counter(path.parts[0] for path in files).most_common():
        print(f"{count:5} {package}")
    print(f"touched: {len(outside)} files outside faults/, {len(files) - len(outside)} in faults/")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
