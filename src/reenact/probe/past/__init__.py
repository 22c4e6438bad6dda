"""Past runs as traces: TensorBoard event files and CSV logs, as far as they carry the facts."""

from reenact.probe.past.read import read_past

__all__ = ["read_past"]
