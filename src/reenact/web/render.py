"""Pages from templates: everything escaped, blocks of a document by the renderer of reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from reenact.plain import plain, plain_line
from reenact.report import as_html
from reenact.report.document import Block, Section
from reenact.web.assets import TEMPLATES

if TYPE_CHECKING:
    from jinja2 import Environment

HASH, SHOWN = re.compile(r"\b[0-9a-f]{24,}\b"), 10


def render(template: str, **given: Any) -> str:
    """A whole page."""
    return environment().get_template(template).render(**given)


@cache
def environment() -> Environment:
    """The templates, with escaping on and unknown names an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"plain": plain, "moment": moment, "shortened": shortened}
    made.globals |= {"blocks": _blocks, "contents": _contents}
    return made


def _shown(value: Any) -> Any:
    """What stands between braces, before it is escaped: nothing that a reader could not see gets through."""
    # Markup, a kind of str, holds what has passed here already.
    if type(value) is str:
        return plain(value)
    return plain_line(str(value)) if isinstance(value, PurePath) else value


def _blocks(shown: Iterable[Block]) -> Markup:
    # Made by report/as_html.py, where every word is escaped.
    return Markup(as_html.blocks(shown))  # noqa: S704


def _contents(sections: Sequence[Section], *more: tuple[str, str]) -> Markup:
    return Markup(as_html.contents(sections, *more))  # noqa: S704


def moment(at: str | None) -> str:
    """A time of the journal for a reader."""
    try:
        return datetime.fromisoformat(at or "").strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return plain(at or "")


def shortened(path: str) -> str:
    """The path of a step with its long hashes cut: enough of each to tell it from the others."""
    return HASH.sub(lambda found: f"{found[0][:SHOWN]}…", path)
