"""What `Result` asks of this package (`reenact.drawing`): document, formats, plots, notebook
cell.
"""

from html import escape

from reenact.report.document import pictures_in as pictures_in
from reenact.report.recorded import shown as shown
from reenact.report.render import render as render
from reenact.result import Result

HEIGHT = "34rem"


def mimebundle(result: Result) -> dict[str, str]:
    """The result as plain text and as html. Raises InputError for what no view shows."""
    document = result.document()
    return {
        "text/plain": render(document, "full"),
        "text/html": framed(render(document, "html")),
    }


def framed(page: str) -> str:
    """A page in a frame of its own: its styles stay inside, and nothing in it can run."""
    style = f"width: 100%; height: {HEIGHT}; border: 0"
    return f'<iframe sandbox="" srcdoc="{escape(page, quote=True)}" style="{style}"></iframe>'
