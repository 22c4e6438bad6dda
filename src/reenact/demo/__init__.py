"""What `reenact demo` shows: `cases/` (a training, a bug with its recording, a paper with its recordings) and
`crash/` (a small run that is killed and continues; the crash matrix of the tests drives it too)."""

from pathlib import Path

CASES = Path(__file__).parent / "cases"
