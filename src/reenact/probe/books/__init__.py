"""What the books of a training hold, as they were kept while it ran (`reenact_probe.books`)."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.probe.books.formulas import FormulasBook
from reenact.probe.books.gradients import GradientsBook
from reenact.probe.books.metrics import MetricsBook
from reenact.probe.books.models import ModelsBook
from reenact.probe.books.parameters import ParametersBook
from reenact.probe.books.rows import RowsBook

__all__ = [
    "Books",
    "MetricsBook",
]


@dataclass(frozen=True, slots=True)
class Books:
    """One part a book; none where it was not kept."""

    spent: float = 0.0
    """Seconds that keeping them took."""
    gradients: GradientsBook | None = None
    rows: RowsBook | None = None
    parameters: ParametersBook | None = None
    models: ModelsBook | None = None
    metrics: MetricsBook | None = None
    formulas: FormulasBook | None = None
