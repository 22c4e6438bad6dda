r"""Tables of LaTeX made plain, so that pandoc reads their cells whatever packages they were set
with; and the cells out of pandoc's tree, where one that spans columns or rows is repeated in each.

Column specifications become `l`, rules, colours and boxes go, tables inside a cell become its
words. How many rows are headings follows from the rules, and travels in the first cell as a marker.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from reenact.intake.papers.latex_macros import Made, group, regrouped, rewritten
from reenact.intake.papers.pandoc import Node
from reenact.intake.papers.paper import Table

MOST_TABLES = 400
HEADS = re.compile(r"ReenactHeads(\d+)x\s*")
"""The marker: how many of the first rows are headings."""
_KINDS = r"tabular\*|tabularx|tabulary|tabular|longtable|NiceTabular|tblr|supertabular|xltabular"
_BEGIN = re.compile(rf"\\begin\s*\{{({_KINDS})\}}")
_EITHER = re.compile(rf"\\(begin|end)\s*\{{(?:{_KINDS})\}}")
_OPTION = re.compile(r"\s*\[[^\]]{0,200}\]")
_RULE = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|Xhline\s*\{[^{}]*\}|specialrule(?:\s*\{[^{}]*\}){3}|hdashline)"
)
_PARTIAL = re.compile(
    r"\\(?:cmidrule|cline|cdashline)\s*(?:\[[^\]]{0,40}\])?\s*(?:\([^)]{0,20}\))?\s*\{[^{}]*\}"
    r"|\\addlinespace\s*(?:\[[^\]]{0,40}\])?|\\(?:rowcolor|cellcolor|arrayrulecolor)\s*(?:\[[^\]]{0,40}\])?\s*\{[^{}]*\}"
    r"|\\(?:endhead|endfirsthead|endfoot|endlastfoot|nobreakhline|centering|raggedright|arraybackslash|tabularnewline)\b"
    r"|\\noalign\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\\rule\s*\{[^{}]*\}\s*\{[^{}]*\}|\\vspace\*?\s*\{[^{}]*\}"
)
_STACK = re.compile(
    r"\\(?:makecell(?:box)?|shortstack|thead|specialcell)\*?\s*(?:\[[^\]]{0,20}\])?\s*(?=\{)"
)
_ACROSS = re.compile(r"\\multicolumn\s*\{\s*(\d{1,3})\s*\}\s*(?=\{)")
_DOWN = re.compile(
    r"\\multirow(?:cell)?\s*(?:\[[^\]]{0,20}\])?\s*\{\s*(-?\d{1,3})\s*\}\s*(?:\[[^\]]{0,20}\])?\s*(?:\{[^{}]*\}|\*)"
    r"\s*(?:\[[^\]]{0,20}\])?\s*(?=\{)"
)
_CUT = re.compile(r"\\\\\*?(?:\s*\[[^\]&]{0,20}\])?|\\tabularnewline\b|[{}]|\\.", re.S)
_FLOAT = re.compile(
    r"\\begin\s*\{(?:wraptable|SCtable|sidewaystable\*?|longtable\*|subtable)\}(?:\s*\[[^\]]{0,40}\])?(?:\s*\{[^{}]*\}){0,2}"
)
_FLOAT_END = re.compile(r"\\end\s*\{(?:wraptable|SCtable|sidewaystable\*?|subtable)\}")
_FIGURE = re.compile(r"\\begin\s*\{wrapfigure\*?\}(?:\s*\[[^\]]{0,40}\])?(?:\s*\{[^{}]*\}){0,2}")
_TABLE = re.compile(r"\\begin\s*\{(table\*?)\}(?:\s*\[[^\]]{0,40}\])?")
_CAPTION = re.compile(r"\\caption(?:of\s*\{table\})?\*?\s*(?:\[[^\]]{0,300}\])?\s*(?=\{)")
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_NAMES = re.compile(
    r"\\(?:author|address|affil|affiliation|institute)\s*(?:\[[^\]]{0,200}\])?\s*(?=\{)"
)
LONGEST_NAMES = 20_000
_MADE = re.compile(r"\\begin\{tabular\}\{l+\}\n.*?\\end\{tabular\}", re.S)
_AROUND = re.compile(
    r"\\(?:begin|end)\s*\{(?:threeparttable|center|adjustbox|small|footnotesize|scriptsize|tiny|spacing)\}"
    r"(?:\s*\[[^\]]{0,80}\])?(?:\s*\{(?:[^{}]*(?:width|scale|\d)[^{}]*)\})?"
)
MOST_CELLS = 20_000
Line = Callable[[Iterable[Node]], str]


def plain_tables(text: str) -> str:
    """The text with every table in its plainest form."""

    def named(found: re.Match[str]) -> Made:
        inner, end = group(text, found.end(), LONGEST_NAMES)
        if not _BEGIN.search(inner) or text[end - 1] != "}":
            return found[0], found.end()
        words = re.sub(
            r"\n\s*\n",
            "\n",
            _without_inner(inner, ",", "\\\\"),
        )
        return f"{found[0]}{{{words}}}", end

    def celled(begin: re.Match[str]) -> Made:
        depth = 1
        for end in _EITHER.finditer(text, begin.end()):
            depth += 1 if end[1] == "begin" else -1
            if depth == 0:
                return _plain(
                    _body(
                        text[begin.end() : end.start()],
                        begin[1],
                    )
                ), end.end()
        return None

    def floated(begin: re.Match[str]) -> Made:
        end = text.find(
            f"\\end{{{begin[1]}}}",
            begin.end(),
        )
        if end >= 0:
            return (
                "".join(_float(text[begin.end() : end])),
                end + len(begin[1]) + 6,
            )
        return None

    # Tables that only set names and addresses in columns as words: no command of the title takes a
    # table.
    text = rewritten(text, _NAMES, named, MOST_TABLES)
    text = _AROUND.sub(
        "\n",
        _FLOAT_END.sub(r"\\end{table}", _FLOAT.sub(r"\\begin{table}", text)),
    )
    text = _FIGURE.sub(r"\\begin{figure}", text).replace("\\end{wrapfigure}", "\\end{figure}")
    text = rewritten(text, _BEGIN, celled, MOST_TABLES)
    return rewritten(text, _TABLE, floated)


def _float(body: str) -> Iterator[str]:
    """Floats that hold a table hold nothing else: pandoc would lose the caption among other
    things.
    """
    captions: list[str] = []

    def taken(_: re.Match[str], words: str) -> str:
        captions.append(words)
        return " "

    body = regrouped(body, _CAPTION, taken)
    labels = [label for words in captions for label in _LABEL.findall(words)] + _LABEL.findall(body)
    tables = _MADE.findall(body)
    if not tables:
        yield f"\n\n{' '.join(captions)}\n\n{body}\n\n"
        return
    for number, table in enumerate(tables):
        words = ""
        if captions:
            words = _LABEL.sub(
                "",
                captions[min(number, len(captions) - 1)],
            )
        label = ""
        if labels:
            label = f"\\label{{{labels[min(number, len(labels) - 1)]}}}"
        yield f"\n\n\\begin{{table}}\n\\caption{{{words}}}{label}\n{table}\n\\end{{table}}\n\n"
    yield f"\n\n{_LABEL.sub('', _MADE.sub(' ', body))}\n\n"


def _body(inner: str, kind: str) -> str:
    """What stands in a table after its width and column specification."""
    at = 0
    for _ in range(2 if kind in ("tabular*", "tabularx", "tabulary", "xltabular") else 1):
        if option := _OPTION.match(inner, at):
            at = option.end()
        if brace := re.compile(r"\s*(?=\{)").match(inner, at):
            at = group(inner, brace.end())[1]
    return inner[at:]


def _plain(body: str) -> str:
    body = _without_inner(body)
    body = regrouped(
        body,
        _STACK,
        lambda _, inner: "{" + inner.replace("\\\\", " ") + "}",
    )
    body = regrouped(
        _PARTIAL.sub(" ", body),
        _ACROSS,
        lambda found, _: f"\\multicolumn{{{found[1]}}}{{c}}",
    )
    body = _DOWN.sub(
        lambda found: f"\\multirow{{{max(1, int(found[1]))}}}{{*}}",
        body,
    )
    rows: list[str] = []
    ruled = -1
    for row in _rows(body):
        words, rules = _RULE.subn(" ", row)
        if rules and rows and ruled < 0:
            ruled = len(rows)
        rows += filter(None, [words.strip()])
    heads = ruled if 0 < ruled < len(rows) else min(1, max(len(rows) - 1, 0))
    if not rows:
        return " "
    spanned = [
        [int(span) - 1 for span in re.findall(r"\\multicolumn\{(\d{1,3})\}", row)] for row in rows
    ]
    cells = [len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows]
    width = max(count + sum(more) for count, more in zip(cells, spanned, strict=True))
    # The marker goes into the first cell, inside the braces of one that spans.
    spans = re.match(r"\s*\\multi(?:column|row)\{\d+\}\{[^{}]*\}\{", rows[0])
    at = spans.end() if spans else 0
    rows[0] = f"{rows[0][:at]}ReenactHeads{heads}x {rows[0][at:]}"
    lines = " \\\\\n".join(rows)
    return f"\n\\begin{{tabular}}{{{'l' * min(width, 100)}}}\n{lines} \\\\\n\\end{{tabular}}\n"


def _rows(body: str) -> Iterator[str]:
    """Rows end with two backslashes outside of braces."""
    depth = at = 0
    for found in _CUT.finditer(body):
        depth += {
            "{": 1,
            "}": -1,
        }.get(found[0], 0)
        if depth <= 0 and (found[0].startswith("\\\\") or found[0] == "\\tabularnewline"):
            yield body[at : found.start()]
            at = found.end()
    yield body[at:]


def _without_inner(body: str, cell: str = " ", row: str = " ") -> str:
    """Tables inside something as its words."""
    for _ in range(MOST_TABLES):
        last = max(_BEGIN.finditer(body), key=re.Match.start, default=None)
        end = None
        if last:
            end = _EITHER.search(body, last.end())
        if last is None or end is None:
            break
        words = _body(
            body[last.end() : end.start()],
            last[1],
        )
        words = re.sub(r"(?<!\\)&", cell, words)
        words = re.sub(r"\\\\\*?(?:\s*\[[^\]&]{0,20}\])?", lambda _: row, words)
        body = body[: last.start()] + words + body[end.end() :]
    return body


def grid_of(content: Any, line: Line) -> Table:
    """The cells as text. Spans that run over the edge are cut there."""
    attributes, caption, columns, head, bodies, foot = content
    body = [row for part in bodies for row in (*part[2], *part[3])]
    cells: list[list[tuple[str, int, int]]] = []
    for row in (
        *head[1],
        *body,
        *foot[1],
    ):
        spans = (
            (
                blocks,
                max(int(down), 1),
                max(int(across), 1),
            )
            for _, _, down, across, blocks in row[1]
        )
        cells.append([(_text(blocks, line), down, across) for blocks, down, across in spans])
    rows = spread(cells, len(columns))
    marker = None
    if rows and rows[0]:
        marker = HEADS.match(rows[0][0])
    if marker:
        rows = tuple(tuple(HEADS.sub("", cell) for cell in row) for row in rows)
    count = int(marker[1]) if marker else len(head[1])
    return Table(
        caption=_text(caption[1], line),
        label=str(attributes[0]),
        rows=rows,
        heads=count,
    )


def spread(
    rows: list[list[tuple[str, int, int]]],
    width: int,
) -> tuple[tuple[str, ...], ...]:
    """Rows of (text, rows spanned, columns spanned) as a full grid."""
    grid: dict[tuple[int, int], str] = {}
    for number, row in enumerate(rows):
        column = 0
        for text, down, across in row:
            while (number, column) in grid:
                column += 1
            for below in range(min(down, len(rows) - number)):
                for beside in range(min(across, max(width - column, 1))):
                    grid[number + below, column + beside] = text
            column += max(across, 1)
            if len(grid) > MOST_CELLS:
                break
    full = max(
        [
            width,
            *(column + 1 for _, column in grid),
        ],
        default=0,
    )
    return tuple(
        tuple(grid.get((at, column), "") for column in range(full)) for at in range(len(rows))
    )


def _text(blocks: Iterable[Node], line: Line) -> str:
    return " ".join(_words(block, line) for block in blocks)


def _words(block: Node, line: Line) -> str:
    given: Any = block.get("c")
    match block["t"], given:
        case "Para" | "Plain", nodes:
            return line(nodes)
        case "Div", [_, blocks]:
            return _text(blocks, line)
        case ("BulletList", items) | ("OrderedList", [_, items]):
            return "; ".join(_text(item, line) for item in items)
        case "Table", content:
            return " ".join(cell for row in grid_of(content, line).rows for cell in row if cell)
        case "CodeBlock", [_, body]:
            return str(body)
    return ""
