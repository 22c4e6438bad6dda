"""The sheet as one self-contained HTML page: no script, no outside resource, dark and light."""

from __future__ import annotations

from html import escape

from reenact.plain import plain, plain_line
from reenact.report.sheet import Block, Facts, Notice, Picture, Sheet, Text
from reenact.types import Table

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; display: block; overflow-x: auto; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; vertical-align: top; }
th, td { border-bottom: 1px solid #8884; }
pre { overflow-x: auto; white-space: pre-wrap; padding: .75rem; background: #8881; border-radius: .4rem; }
.verdict { font-size: 1.15rem; font-weight: 600; padding: .5rem .75rem; }
.verdict { border-left: .3rem solid #4a8; background: #8881; }
.notice { margin: 1.25rem 0; padding: .5rem .9rem; border-left: .3rem solid #28a; background: #8881; }
.notice.error { border-color: #d33; } .notice.warning { border-color: #b80; }
.error .code { color: #d33; } .warning .code { color: #b80; } .note .code { color: #28a; }
.code { font-weight: 700; } .next { font-family: ui-monospace, monospace; margin: .4rem 0 0; }
small { opacity: .75; margin-left: .6rem; }
figure { margin: .75rem 0; } figure h3 { font-size: .9rem; margin: 0 0 .2rem; font-weight: 600; }
h2 { font-size: 1.1rem; margin: 1.75rem 0 .4rem; }
"""


def render(sheet: Sheet) -> str:
    """Everything escaped; the page may be mailed."""
    return page(sheet.title, body(sheet))


def body(sheet: Sheet) -> str:
    """What the page shows."""
    parts = [f'<p class="reused">{_text(sheet.reused)}</p>'] if sheet.reused else []
    parts += [f"<h1>{_text(sheet.title)}</h1>", f'<p class="verdict">{_text(sheet.verdict)}</p>']
    parts += [_notice(notice) for notice in sheet.notices]
    parts += [_block(block) for block in sheet.blocks]
    return "".join(parts)


def page(title: str, content: str, style: str = "") -> str:
    """A page around HTML that is escaped already; `style` adds to our own."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>{STYLE}{style}</style></head>\n"
        f"<body>{content}</body></html>\n"
    )


def _block(block: Block) -> str:
    head = f"<h2>{_text(block.title)}</h2>" if block.title else ""
    if isinstance(block, Picture):
        return _picture(block, "h2")
    if isinstance(block, Text):
        return f"{head}<pre>{_text(block.text)}</pre>"
    if isinstance(block, Facts):
        rows = "".join(f'<tr><th scope="row">{_text(n)}</th><td>{_text(v)}</td></tr>' for n, v in block.facts)
        return f"{head}<table>{rows}</table>"
    assert isinstance(block, Table)
    columns = "".join(f'<th scope="col">{_text(column)}</th>' for column in block.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in block.rows
    )
    return f"{head}<table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>"


def _notice(notice: Notice) -> str:
    where = f" <code>{_text(plain_line(str(notice.place)))}</code>" if notice.place else ""
    after = f'<p class="next">{_text(notice.next_step)}</p>' if notice.next_step else ""
    aside = f" <small>{_text(notice.aside)}</small>" if notice.aside else ""
    told = f"<pre>{_text(notice.detail)}</pre>" if notice.detail else f"<p>{_text(notice.message)}</p>"
    drawn = "".join(_picture(picture, "h3") for picture in notice.pictures)
    return (
        f'<section class="notice {notice.level.value}"><span class="code">{_text(notice.code)}</span> '
        f"{_text(notice.name)}{where}{aside}{told}{drawn}{after}</section>"
    )


def _picture(picture: Picture, heading: str) -> str:
    head = f"<{heading}>{_text(picture.title)}</{heading}>" if picture.title else ""
    return f"<figure>{head}{picture.svg}</figure>"


def _text(text: str) -> str:
    return escape(plain(text))
