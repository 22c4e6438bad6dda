r"""LaTeX made ready for pandoc: what pandoc would lose is taken out and leaves a marker in its
place.

Algorithms and listings are kept whole. The beginning of the appendix is marked. Definitions of
local style files are put in front. Commands that no one defines get a definition that keeps their
argument.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reenact.intake.papers.assemble import Piece
from reenact.intake.papers.latex_macros import (
    Made,
    detex,
    group,
    regrouped,
    rewritten,
    written_out,
)
from reenact.intake.papers.paper import Algorithm
from reenact.intake.papers.tables import plain_tables

FLOATS = ("algorithm", "algorithm*", "algorithm2e", "figure_algorithm", "listing")
BARE = (
    "algorithmic",
    "algpseudocode",
    "lstlisting",
    "verbatim",
    "minted",
    "pseudocode",
    "alltt",
)
MOST_STORED = 500
_BEGIN = re.compile(rf"\\begin\s*\{{({'|'.join(map(re.escape, (*FLOATS, *BARE)))})\}}")
_CAPTION = re.compile(r"\\caption\s*(?:\[[^\]]{0,300}\])?\s*(?=\{)")
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_INNER = re.compile(
    r"\\(?:begin|end)\s*\{[^{}]*\}(?:\s*\[[^\]]{0,300}\])?|\\(?:centering|small|footnotesize)\b"
)
_SET_UP = re.compile(
    r"\\(?:Set[A-Z][A-Za-z]*|DontPrintSemicolon|PrintSemicolon|Lines(?:Not)?Numbered|RestyleAlgo|(?:Inc|Dec)Margin)"
    r"(?:\s*\{(?:[^{}]|\{[^{}]*\}){0,300}\})*"
)
"""How algorithm2e is to print, which is not a step."""
_GIVEN = re.compile(r"\\Kw(In|Out|Data|Result|Ret)\s*(?=\{)")
GIVEN = {
    "In": "Input:",
    "Out": "Output:",
    "Data": "Data:",
    "Result": "Result:",
    "Ret": "return",
}
_SUBFIGURE = re.compile(
    r"\\sub(?:figure|float)\*?\s*(?:\[((?:[^\[\]{}]|\{[^{}]{0,300}\}){0,600})\]\s*){0,2}(?=\{)"
)
"""The older way to set one picture of several; pandoc knows the environment of that name."""
_APPENDIX = re.compile(r"\\appendix\b|\\(?:begin|end)\s*\{appendi(?:x|ces)\}")
_BOX = re.compile(
    r"\\(?:resizebox\*?\s*\{[^{}]{0,80}\}\s*\{[^{}]{0,80}\}|(?:scalebox|rotatebox|adjustbox)\s*(?:\[[^\]]{0,80}\])?"
    r"\s*\{[^{}]{0,80}\}|adjustbox|fbox)\s*%?\s*(?=\{)"
)
_IEEE = re.compile(
    r"\\(?:(begin)\s*\{IEEEeqnarray(\*?)\}\s*(?:\[[^\]]{0,40}\])?\s*\{[^{}]{0,80}\}|(end)\s*\{IEEEeqnarray(\*?)\})"
)
"""What pandoc does not know of IEEE's formulas is their columns."""
_NOTE = re.compile(r"\\footnotetext(?![A-Za-z])")
"""The words of a footnote apart from its mark: pandoc knows those that are together."""
_WORDS_FOR = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|def)\s*\{?\\([A-Za-z]+)\}?\s*\{((?:[^{}#\n]|\{[^{}#\n]*\}){0,200})\}"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)(?![A-Za-z])")
STYLE = re.compile(r"\\(?:usepackage|RequirePackage)\s*(?:\[[^\]]{0,300}\])?\s*\{([^{}]*)\}")
_DEFINITION = re.compile(
    r"(?m)^[ "
    r"\t]*\\(?:(?:re)?newcommand|providecommand|DeclareMathOperator|DeclarePairedDelimiter)\*?"
    r"\s*\{?\\[A-Za-z]+\}?(?:\[[^\]\n]*\])*[ \t]*[{\\][^\n@]*$"
    r"|^[ \t]*\\def\\[A-Za-z]+(?:#\d)*\{[^\n@]*\}[ \t]*$"
)
_SKIPPED = re.compile(r"\\([A-Za-z]+)\*?\s*((?:\[[^\]]*\])*)((?:\s*\{.*\})?)\s*\Z", re.S)
_SKIPPED_FRAME = re.compile(r"\\begin\s*\{([A-Za-z]+\*?)\}(.*)", re.S)
FEW_WORDS = 3
"""From so many words on an environment that was skipped is worth a second look."""
_WORDS = re.compile(r"[^\W\d_]{2}")
HARMLESS = frozenset(
    {
        "begin",
        "end",
        "bgroup",
        "egroup",
        "maketitle",
        "centering",
        "bibliographystyle",
        "bibliography",
        "vspace",
        "hspace",
        "vskip",
        "hskip",
        "noindent",
        "newpage",
        "clearpage",
        "pagestyle",
        "thispagestyle",
        "setlength",
        "addtolength",
        "setcounter",
        "addtocounter",
        "small",
        "footnotesize",
        "large",
        "Large",
        "normalsize",
        "scriptsize",
        "tiny",
        "linewidth",
        "hline",
        "toprule",
        "midrule",
        "bottomrule",
        "cmidrule",
        "cline",
        "textwidth",
        "columnwidth",
        "textheight",
        "captionsetup",
        "graphicspath",
        "usepackage",
        "RequirePackage",
        "hypersetup",
        "definecolor",
        "pdfoutput",
        "title",
        "author",
        "date",
        "thanks",
        "and",
        "appendix",
        "newtheorem",
        "theoremstyle",
        "addbibresource",
        "printbibliography",
        "tableofcontents",
        "balance",
        "flushbottom",
        "raggedright",
        "label",
        "FloatBarrier",
        "looseness",
        "par",
        "allowbreak",
        "linebreak",
        "pagebreak",
        "nolinebreak",
        "stretch",
        "rowcolor",
        "cellcolor",
        "rowcolors",
        "arraystretch",
        "tabcolsep",
        "icmltitle",
        "icmlsetsymbol",
        "printAffiliationsAndNotice",
        "affil",
        "icmlaffiliation",
        "icmlcorrespondingauthor",
        "icmlkeywords",
        "icmltitlerunning",
        "iclrfinalcopy",
        "aclfinalcopy",
        "keywords",
        "ccsdesc",
        "acmConference",
        "copyrightyear",
        "setcopyright",
        "acmYear",
        "acmDOI",
        "acmISBN",
        "geometry",
        "titlerunning",
        "authorrunning",
        "institute",
        "email",
        "orcid",
        "ifx",
        "fi",
        "else",
        "relax",
        "makeatletter",
        "makeatother",
        "protect",
        "phantom",
        "vphantom",
        "hphantom",
        "strut",
        "hfill",
        "vfill",
        "medskip",
        "smallskip",
        "bigskip",
        "sloppy",
        "twocolumn",
        "onecolumn",
        "newcommand",
        "renewcommand",
        "def",
        "let",
        "crefname",
        "Crefname",
        "newcolumntype",
        "providecommand",
        "DeclareMathOperator",
        "nocite",
        "item",
        "RestyleAlgo",
        "ifdefined",
        "XeTeXrevision",
    }
)
"""Commands about looks and machinery: nothing of the paper is lost with them."""
USUAL = {
    "ie": "i.e.",
    "eg": "e.g.",
    "Ie": "I.e.",
    "Eg": "E.g.",
    "etal": "et al.",
    "etc": "etc.",
    "cf": "cf.",
    "wrt": "w.r.t.",
    "vs": "vs.",
    "aka": "a.k.a.",
    "iid": "i.i.d.",
    "st": "s.t.",
}
"""Short words that styles of conferences define."""
ELSEWHERE = frozenset(("caption", "includegraphics", "multicolumn", "multirow"))
"""Known in their place: a definition that keeps their argument would spoil them there."""
_DRAWN = re.compile(r"pict|tikz|axis|forest")
_WORDLESS = re.compile(
    rf"{_DRAWN.pattern}|tab|tblr|eqn|equation|align|math|array|gather|matrix|cases|split"
)
"""In the names of environments that hold cells, drawings or formulas: as words they would be
nonsense.
"""


@dataclass
class Prepared:
    """A text for pandoc, and what was taken out of it."""

    text: str = ""
    stored: dict[str, Piece | None] = field(default_factory=dict)
    machinery: tuple[str, ...] = ()
    """Commands that are made in ways that only TeX follows: their arguments stand for them."""

    def keep(self, piece: Piece | None) -> str:
        """The paragraph that stands for a piece; none stands for the beginning of the appendix."""
        if len(self.stored) >= MOST_STORED:
            return " "
        marker = f"ReenactMarker{len(self.stored)}Kept"
        self.stored[marker] = piece
        return f"\n\n{marker}\n\n"


def prepare(text: str) -> Prepared:
    """Take out what pandoc would lose."""
    text, machinery = written_out(text)
    made = Prepared(machinery=machinery)
    text = _NOTE.sub(r"\\footnote", _IEEE.sub(r"\\\1\3{eqnarray\2\4}", text))
    # Boxes only scale what is in them, and pandoc would drop a table with its box.
    text = plain_tables(
        regrouped(
            text,
            _BOX,
            lambda _, inner: f"\n{inner}\n",
            MOST_STORED,
        )
    )
    text = regrouped(text, _SUBFIGURE, _subfigure, MOST_STORED)
    words = dict(_WORDS_FOR.findall(text)[:MOST_STORED])

    def stored(begin: re.Match[str]) -> Made:
        closed = re.compile(rf"\\end\s*\{{{re.escape(begin[1])}\}}").search(
            text,
            begin.end(),
        )
        if closed is None:
            return None
        body = text[begin.end() : closed.start()]
        for _ in range(3):
            # The author's own words for things, replaced by what they stand for as pandoc does
            # elsewhere.
            body = _COMMAND.sub(
                lambda found: words.get(found[1], found[0]),
                body,
            )
        return made.keep(_steps(body, begin[1])), closed.end()

    text = rewritten(text, _BEGIN, stored)
    made.text = _APPENDIX.sub(
        lambda found: " " if "end" in found[0][:5] else made.keep(None),
        text,
    )
    return made


def _subfigure(found: re.Match[str], inner: str) -> str:
    caption = ""
    if found[1]:
        caption = f"\\caption{{{found[1]}}}"
    return f"\\begin{{subfigure}}{{1cm}}{inner}{caption}\\end{{subfigure}}"


def _steps(body: str, environment: str) -> Algorithm:
    """An algorithm with its caption and label; the lines unchanged, without the frame
    around them.
    """
    caption = ""
    label = _LABEL.search(body)
    if environment in FLOATS:
        body = re.sub(r"\A\s*\[[^\]]{0,300}\]", "", body)
        if at := _CAPTION.search(body):
            inner, end = group(body, at.end())
            caption = detex(inner)
            body = body[: at.start()] + body[end:]
        body = _SET_UP.sub("", body)
        body = regrouped(
            body,
            _GIVEN,
            lambda of, inner: f"{GIVEN[of[1]]} {inner.strip()}",
            MOST_STORED,
        )
        body = _INNER.sub("", body)
    else:
        body = re.sub(r"\A\s*(?:\[[^\]]{0,300}\])?(?:\{[a-z]+\})?", "", body)
    lines = (line.rstrip() for line in _LABEL.sub("", body).splitlines())
    return Algorithm(
        "",
        caption,
        label[1] if label else "",
        body="\n".join(filter(None, lines)),
    )


def definitions(style: str) -> str:
    """The plain definitions of a style file, one a line; its machinery is left out."""
    found = (one[0] for one in _DEFINITION.finditer(style))
    # With its braces closed.
    closed = (
        one
        for one in found
        if re.subn(r"(?<!\\)\{", "", one)[1] == re.subn(r"(?<!\\)\}", "", one)[1]
    )
    return "\n".join(closed)


def unknown_commands(skipped: Iterable[str]) -> dict[str, bool]:
    """Skipped commands that no one defines, and whether their arguments hold words, which
    pandoc dropped.
    """
    found: dict[str, bool] = {}
    for entry in skipped:
        command = _SKIPPED.match(entry)
        if command and command[1] not in HARMLESS:
            words = bool(_WORDS.search(command[3])) and command[1] not in ELSEWHERE
            found[command[1]] = found.get(command[1], False) or words
    return found


def skipped_frames(skipped: Iterable[str]) -> tuple[str, ...]:
    """Environments that were skipped with the words in them."""
    begun = filter(None, map(_SKIPPED_FRAME.match, skipped))
    names = [
        found[1] for found in begun if len(_WORDS.findall(_COMMAND.sub("", found[2]))) >= FEW_WORDS
    ]
    return tuple(dict.fromkeys(name for name in names if not _WORDLESS.search(name)))


def skipped_drawings(skipped: Iterable[str]) -> tuple[str, ...]:
    """Environments that draw a picture, which only TeX can."""
    begun = filter(None, map(_SKIPPED_FRAME.match, skipped))
    return tuple(dict.fromkeys(found[1] for found in begun if _DRAWN.search(found[1])))


def keep_arguments(text: str, unknown: Mapping[str, bool]) -> str:
    """The text with a definition for each such command: usual words, or its first argument
    stands for it.
    """
    named = (name for name, words in unknown.items() if words or name in USUAL)
    stands = (
        (
            name,
            f"{{{USUAL[name]}\\xspace}}" if name in USUAL else "[1]{#1}",
        )
        for name in named
    )
    return "\n".join(
        (
            *(f"\\providecommand{{\\{name}}}{words}" for name, words in stands),
            text,
        )
    )
