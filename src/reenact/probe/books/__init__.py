"""What the books of a training hold, as they were kept while it ran (`reenact_probe.books`)."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.probe.books.gradients import GradientsBook


@dataclass(frozen=True, slots=True)
class Books:
    """One part a book; none where it was not kept."""

    spent: float = 0.0
    """Seconds that keeping them took."""
    gradients: GradientsBook | None = None
