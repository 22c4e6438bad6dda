"""One line a diagnostic, in the form that editors' problem matchers read, and the verdict."""

from __future__ import annotations

from reenact.plain import plain, plain_line
from reenact.report.document import Diagnostic, Document


def render(document: Document) -> str:
    """`file:line:column: CODE message`, then the verdict."""
    lines = [plain_line(document.reused)] if document.reused else []
    lines += [_line(one) for one in document.diagnostics]
    return "\n".join([*lines, plain_line(document.verdict)]) + "\n"


def _line(one: Diagnostic) -> str:
    where = f"{plain_line(str(one.place))}: " if one.place else ""
    message = " ".join(plain(one.message).split())
    return f"{where}{plain_line(one.code)} {message}"
