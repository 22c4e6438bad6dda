"""One line a notice, in the form that editors' problem matchers read, and the verdict."""

from __future__ import annotations

from reenact.plain import plain, plain_line
from reenact.report.document import Diagnostic, Document


def render(document: Document) -> str:
    """`file:line:column: CODE message`, then the verdict."""
    lines = [plain_line(document.reused)] if document.reused else []
    lines += [_line(notice) for notice in document.diagnostics]
    return "\n".join([*lines, plain_line(document.verdict)]) + "\n"


def _line(notice: Diagnostic) -> str:
    where = f"{plain_line(str(notice.place))}: " if notice.place else ""
    message = " ".join(plain(notice.message).split())
    return f"{where}{plain_line(notice.code)} {message}"
