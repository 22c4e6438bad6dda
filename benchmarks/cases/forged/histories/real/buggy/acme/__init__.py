"""Running figures of a training."""

from acme.meter import Meter, apply, names, read_lines, spread, total

__all__ = ["Meter", "apply", "names", "read_lines", "spread", "total"]
