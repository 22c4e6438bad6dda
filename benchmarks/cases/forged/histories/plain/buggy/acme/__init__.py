"""Running figures of a training."""

from acme.meter import Meter, apply, read_lines, total

__all__ = ["Meter", "apply", "read_lines", "total"]
