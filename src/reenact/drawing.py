"""Who draws results: asked by `Result`, answered by `report`, which is above it.

`reenact/__init__.py` registers the answer, so that it is there whatever of reenact is imported;
nothing is loaded before a result is drawn.
"""

from collections.abc import Callable
from typing import Any, Protocol


class Drawing(Protocol):
    """What a result asks of anyone who draws it."""

    def shown(self, result: object, title: str = ...) -> Any:
        """The document of a result, which every output format renders."""

    def render(self, document: Any, output_format: str, *, details: bool = True) -> str:
        """The document as text in that format."""

    def pictures_in(self, document: Any) -> tuple[Any, ...]:
        """The plots of a document."""

    def mimebundle(self, result: Any) -> dict[str, str]:
        """The result as a notebook draws it."""


_registered: list[Callable[[], Drawing]] = []


def draw_with(load: Callable[[], Drawing]) -> None:
    """Register what loads the drawing; the latest counts."""
    _registered[:] = [load]


def drawing() -> Drawing:
    """What draws results."""
    return _registered[0]()
