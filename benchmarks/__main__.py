"""`python -m benchmarks NAME`: the command line of the benchmarks, with the exit codes of every
command.
"""

from __future__ import annotations

from benchmarks.command import bench
from reenact.cli.edge import guarded

if __name__ == "__main__":
    raise SystemExit(guarded(bench, name="python -m benchmarks"))
