"""What `reenact demo` shows: `cases/` (a training, a bug with its recording, a paper with its
recordings).
"""

from pathlib import Path

CASES = Path(__file__).parent / "cases"
