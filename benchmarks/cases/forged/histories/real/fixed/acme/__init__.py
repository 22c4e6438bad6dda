"""Running figures of a training."""

from acme.meter import Meter, apply, median, names, read_lines, spread, total

__all__ = ["Meter", "apply", "median", "names", "read_lines", "spread", "total"]
