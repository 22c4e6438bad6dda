"""One line a notice, in the form that editors' problem matchers read, and the verdict."""

from __future__ import annotations

from reenact.plain import plain, plain_line
from reenact.report.sheet import Notice, Sheet


def render(sheet: Sheet) -> str:
    """`file:line:column: CODE message`, then the verdict."""
    lines = [plain_line(sheet.reused)] if sheet.reused else []
    lines += [_line(notice) for notice in sheet.notices]
    return "\n".join([*lines, plain_line(sheet.verdict)]) + "\n"


def _line(notice: Notice) -> str:
    where = f"{plain_line(str(notice.place))}: " if notice.place else ""
    message = " ".join(plain(notice.message).split())
    return f"{where}{plain_line(notice.code)} {message}"
