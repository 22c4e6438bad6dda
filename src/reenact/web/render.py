"""Pages from templates: everything escaped, blocks of a document by the renderer of reports."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from reenact.errors import require
from reenact.plain import plain, plain_line
from reenact.report import as_html, run_words
from reenact.report.as_html import STYLE

if TYPE_CHECKING:
    from jinja2 import Environment

HTMX = ("django_htmx", "static/django_htmx/htmx-2.min.js")
"""The one script of others: its package and its place in there."""
OWN = Path(__file__).parent / "static"
TEMPLATES = Path(__file__).parent / "templates"
HASH = re.compile(r"\b[0-9a-f]{24,}\b")
SHOWN = 10


@cache
def htmx() -> Path | None:
    """The file of the script; none where its package is not installed: the page is read without
    it.
    """
    # Looked for, not imported: importing Django takes long and nothing of it is run.
    found = find_spec(HTMX[0])
    folders = found.submodule_search_locations or () if found is not None else ()
    for folder in folders:
        if (path := Path(folder, HTMX[1])).is_file():
            return path
    return None


def own(name: str) -> Path | None:
    """A file of this package's `static` folder, or the style that all pages share."""
    path = STYLE if name == STYLE.name else OWN / name
    if path.parent in (OWN, STYLE.parent) and path.is_file():
        return path
    return None


def require_web() -> None:
    """Raises MissingExtra where the page cannot be served at all."""
    require("web")


def render(template: str, **given: Any) -> str:
    """A whole page."""
    return environment().get_template(template).render(**given)


@cache
def environment() -> Environment:
    """The templates, with escaping on and unknown names an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    made.finalize = _shown
    made.trim_blocks = True
    made.lstrip_blocks = True
    words = (
        run_words.cost_of,
        run_words.headline,
        run_words.moment,
        run_words.short,
        run_words.state_of,
    )
    made.filters |= {
        each.__name__: each for each in (plain, shortened, label, run_words.time_of, *words)
    }
    # Made by report/as_html.py, where every word is escaped.
    made.globals["blocks"] = lambda shown: Markup(as_html.blocks(shown))  # noqa: S704
    made.globals["contents"] = lambda *sections: Markup(as_html.contents(*sections))  # noqa: S704
    return made


def _shown(value: Any) -> Any:
    """What is between braces, before it is escaped: nothing that a reader could not see
    gets through.
    """
    # Markup, a kind of str, holds what has passed here already.
    if type(value) is str:
        return plain(value)
    if isinstance(value, PurePath):
        return plain_line(str(value))
    return value


def shortened(path: str) -> str:
    """The path of a step with its long hashes cut: enough of each to tell it from the others."""
    return HASH.sub(
        lambda found: f"{found[0][:SHOWN]}…",
        path,
    )


def label(flag: str) -> str:
    """An option or an argument as a label: `--max-cost` is "Max cost"."""
    return flag.strip("-").replace("-", " ").capitalize()
