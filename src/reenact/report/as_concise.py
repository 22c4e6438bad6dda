"""One line a notice, in the form that editors' problem matchers read, and the verdict."""

from __future__ import annotations

from reenact.report.sheet import Notice, Sheet
from reenact.sandbox.files.plain_text import plain


def render(sheet: Sheet) -> str:
    """`file:line:column: CODE message`, then the verdict."""
    lines = [_line(notice) for notice in sheet.notices]
    return "\n".join([*lines, plain(sheet.verdict)]) + "\n"


def _line(notice: Notice) -> str:
    where = f"{notice.place}: " if notice.place else ""
    message = " ".join(plain(notice.message).split())
    return f"{where}{notice.code} {message}"
