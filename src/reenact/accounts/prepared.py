"""Passes without gradients that judge nothing: a model that is trained no more gives inputs to the next."""

from reenact.probe.books.models import JudgedPass, ModelsBook
from reenact.probe.trace import Trace


def only_prepares(trace: Trace) -> bool:
    """Whether whatever was asked without gradients was asked for what another model is to learn from, as
    the trunk of a linear probe is.
    """
    book = trace.books.models if trace.books is not None else None
    if book is None or not book.judged:
        return False
    return all(_prepares(book, one) for one in book.judged)


def _prepares(book: ModelsBook, judged: JudgedPass) -> bool:
    """The model that is asked has been trained, and one that is not begun yet will be."""
    first: dict[int, int] = {}
    for row in book.stepped:
        first.setdefault(row.root, row.step)
    over = all(row.step < judged.step for row in book.stepped if row.root == judged.root)
    return over and any(step >= judged.step for step in first.values())
