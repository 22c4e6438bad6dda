"""Scripts of others: served from the Python packages that bring them, never copied, never from elsewhere."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from reenact.errors import MissingExtra
from reenact.report.as_html import STYLE

HOMES = {
    "htmx.js": ("django_htmx", "static/django_htmx/htmx-2.min.js"),
    "sse.js": ("django_htmx", "static/django_htmx/ext/hx-sse-2.min.js"),
}
NEEDED = ("starlette", "uvicorn", "jinja2")
OWN = Path(__file__).parent / "static"
TEMPLATES = Path(__file__).parent / "templates"


@cache
def foreign(name: str) -> Path | None:
    """The file of a script; none where its package is not installed: the page is read without it."""
    package, inside = HOMES[name]
    # Looked for, not imported: importing Django takes long and nothing of it is run.
    found = find_spec(package)
    for folder in found.submodule_search_locations or () if found is not None else ():
        if (path := Path(folder) / inside).is_file():
            return path
    return None


def own(name: str) -> Path | None:
    """A file of this package's `static` folder, or the style that all pages share."""
    path = STYLE if name == STYLE.name else OWN / name
    return path if path.parent in (OWN, STYLE.parent) and path.is_file() else None


def require_web() -> None:
    """Raises MissingExtra where the page cannot be served at all."""
    for package in NEEDED:
        if find_spec(package) is None:
            raise MissingExtra(package, "web")
