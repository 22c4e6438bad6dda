"""LaTeX of one line (a title, a caption, an entry of a bibliography) -> text. Formulas stay as
they are.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from reenact.intake.papers.references import marked

_ACCENTS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    '"': "\u0308",
    "=": "\u0304",
    ".": "\u0307",
    "u": "\u0306",
    "v": "\u030c",
    "H": "\u030b",
    "c": "\u0327",
    "k": "\u0328",
    "r": "\u030a",
    "d": "\u0323",
}
_LETTERS = {
    "ss": "ß",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "aa": "å",
    "AA": "Å",
    "i": "ı",
    "j": "ȷ",
    "ldots": "…",
    "dots": "…",
    "textasciitilde": "~",
    "textendash": "–",
    "textemdash": "—",
    "textbackslash": "\\",
    "copyright": "©",
    "S": "§",
    "textregistered": "®",
}
MOST_GROUP = 200_000
MOST_REWRITTEN = 100_000
_BRACE = re.compile(r"\\.|[{}]", re.S)
_MATHS = re.compile(r"((?<!\\)\$(?:[^$\\]|\\.)+\$)")
_ACCENT = re.compile(
    r"\{?\\(?:([`'^~\"=.])\s*\{?(\\?[A-Za-z])\}?|([uvHckrd])(?:\s*\{(\\?[A-Za-z])\}|\s+([A-Za-z])))\}?"
)
_CITE = re.compile(r"\\[Cc]ite[a-zA-Z]*\*?\s*(?:\[[^\]]{0,200}\]){0,2}\s*\{([^{}]*)\}")
_REF = re.compile(r"\\(?:ref|eqref|[cC]ref|autoref)\s*\{([^{}]*)\}")
_LINK = re.compile(r"\\href\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_NAMED = re.compile(r"\\([A-Za-z]+)(?:\s+|(?=[^A-Za-z])|\Z)")
Made: TypeAlias = tuple[str, int] | None
"""What stands for something that was found, and where the text goes on; none ends the search."""
MOST_DEFINED = 2000
LONGEST = 4000
"""Characters of a definition that is written out."""
MOST_GROWN = 1_000_000
"""Characters that a text may gain: definitions that use one another grow without end."""
ROUNDS = 4
_DEFINED = re.compile(
    r"\\(?:new|provide)(?P<kind>command|environment)\*?"
    r"\s*(?:\{\s*\\?(?P<name>[A-Za-z]+\*?)\s*\}|\\(?P<bare>[A-Za-z]+))"
    r"\s*(?:\[(?P<count>\d)\])?\s*(?:\[(?P<usual>[^\[\]]{0,200})\])?\s*(?=\{)"
)
"""What is defined first, not what is redefined: pandoc knows the commands of LaTeX itself
better.
"""
_FRAME = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}")
_TABLE = re.compile(r"\\begin\s*\{(?:tabular[x*y]?|tabulary|longtable|NiceTabular|tblr)\}")
_MACHINERY = re.compile(r"\\[A-Za-z]*@[A-Za-z]")
_PLACE = re.compile(r"#(\d)")
_SPACE = re.compile(r"[ \t]*\n?[ \t]*")
_SIGNS = re.compile(
    r"\\(?:pm|mp|times|cdot|leq?|geq?|approx|sim|infty|frac|sqrt|math[a-z]+)(?![A-Za-z])|(?<!\\)[\^_]"
)


def detex(text: str) -> str:
    """The words of a line."""
    parts = [
        maths if number % 2 else _words(maths) for number, maths in enumerate(_MATHS.split(text))
    ]
    return " ".join("".join(parts).split())


def _words(text: str) -> str:
    text = _CITE.sub(
        lambda found: marked(
            map(
                str.strip,
                found[1].split(","),
            )
        ),
        text,
    )
    text = _LINK.sub(
        lambda found: f"{found[2]} ({found[1]})",
        _REF.sub(r"[\1]", text),
    )
    text = _ACCENT.sub(_accented, text)
    text = (
        text.replace("\\\\", " ")
        .replace("~", " ")
        .replace("---", "—")
        .replace(
            "--",
            "–",
        )
    )
    text = (
        text.replace("``", "“")
        .replace("''", "”")
        .replace(
            "\\newblock",
            " ",
        )
    )
    text = re.sub(r"\\bibinfo\s*\{[^{}]*\}", "", text)
    text = re.sub(r"\\(?:label|vspace|hspace|footnotemark)\*?\s*(?:\{[^{}]*\})?", "", text)
    text = _NAMED.sub(
        lambda found: _LETTERS.get(found[1], ""),
        text,
    )
    return re.sub(
        r"\\([%&$#_{}, ;:!/-])",
        r"\1",
        re.sub(r"(?<!\\)[{}]", "", text),
    )


def _accented(found: re.Match[str]) -> str:
    letter = (found[2] or found[4] or found[5]).lstrip("\\")
    return unicodedata.normalize(
        "NFC",
        letter + _ACCENTS[found[1] or found[3]],
    )


def group(
    text: str,
    at: int,
    most: int = MOST_GROUP,
) -> tuple[str, int]:
    """What is between the brace at `at` and the one that closes it, and where that ends. A
    brace that is not closed within so many characters closes there: braces that no one closes would
    cost a search of the whole text each.
    """
    depth = 0
    for found in _BRACE.finditer(text, at, at + most):
        depth += {
            "{": 1,
            "}": -1,
        }.get(found[0], 0)
        if depth == 0:
            return text[at + 1 : found.start()], found.end()
    end = min(at + most, len(text))
    return text[at + 1 : end], end


def rewritten(
    text: str,
    wanted: re.Pattern[str],
    make: Callable[[re.Match[str]], Made],
    most: int = MOST_REWRITTEN,
) -> str:
    """The text with what `make` gives for each find, one after the other."""
    parts: list[str] = []
    at = 0
    for _ in range(most):
        found = wanted.search(text, at)
        made = make(found) if found else None
        if found is None or made is None:
            break
        parts += [
            text[at : found.start()],
            made[0],
        ]
        at = made[1]
    return "".join((*parts, text[at:]))


def regrouped(
    text: str,
    wanted: re.Pattern[str],
    make: Callable[[re.Match[str], str], str],
    most: int = MOST_REWRITTEN,
) -> str:
    """The text with what `make` gives for each find and the group in braces that follows it."""

    def made(found: re.Match[str]) -> Made:
        inner, end = group(text, found.end())
        return make(found, inner), end

    return rewritten(text, wanted, made, most)


@dataclass(frozen=True, slots=True)
class _Own:
    """A definition of the author."""

    kind: str
    """`command` or `environment`."""
    opening: str
    closing: str
    """What ends an environment; empty for a command."""
    count: int
    usual: str | None
    """What stands for the first argument when it is not given."""

    @property
    def machinery(self) -> bool:
        """Whether only TeX follows it: then its arguments stand for it."""
        return self.kind == "command" and self.count > 0 and bool(_MACHINERY.search(self.opening))

    @property
    def hides(self) -> bool:
        """Whether a frame of the document stands in the definition alone."""
        if self.closing:
            return bool(_FRAME.search(self.opening))
        frames = [found[1] for found in _FRAME.finditer(self.opening)]
        return frames.count("begin") != frames.count("end") or bool(_TABLE.search(self.opening))


def written_out(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with what pandoc cannot follow replaced by what it stands for, and the names of the
    commands whose arguments stand for them.
    """
    own: dict[tuple[str, str], _Own] = {}

    def cut(found: re.Match[str]) -> Made:
        made, end = _defined(text, found)
        if made is None or len(made.opening) > LONGEST or not (made.machinery or made.hides):
            return text[found.start() : end], end
        own[made.kind, found["name"] or found["bare"]] = made
        return "", end

    text = rewritten(text, _DEFINED, cut, MOST_DEFINED)
    names = "|".join(re.escape(name) for _, name in own)
    used = re.compile(
        rf"\\(?:(?P<name>{names})(?![A-Za-z@])|(?P<how>begin|end)\s*\{{(?P<frame>{names})\}})"
    )
    left = MOST_GROWN

    def write(found: re.Match[str]) -> Made:
        nonlocal left
        made = own.get(
            ("command", found["name"]) if found["name"] else ("environment", found["frame"])
        )
        if made is None:
            return found[0], found.end()
        words = made.closing
        end = found.end()
        if found["how"] != "end":
            given, end = _arguments(text, end, made)
            if len(made.opening) + made.opening.count("#") * sum(map(len, given)) > left:
                return None
            places = dict(enumerate(given, start=1))
            words = _PLACE.sub(
                lambda place: places.get(int(place[1]), ""),
                made.opening,
            )
            if made.machinery:
                # The arguments alone; signs of maths outside of a formula would be lost.
                maths = [_SIGNS.search(one) and "$" not in one for one in given]
                each = zip(given, maths, strict=True)
                words = " ".join(
                    f"\\ensuremath{{{one}}}" if is_maths else one for one, is_maths in each
                )
        left -= len(words)
        return (words, end) if left > 0 else None

    for _ in range(ROUNDS if own else 0):
        before = text
        text = rewritten(text, used, write)
        if text == before:
            break
    return text, tuple(name for (_, name), made in own.items() if made.machinery)


def _defined(
    text: str,
    found: re.Match[str],
) -> tuple[_Own | None, int]:
    """What is defined there, and where the definition ends; none for an environment without an
    end.
    """
    opening, at = group(text, found.end())
    closing = ""
    if found["kind"] == "environment":
        brace = _after_space(text, at)
        if not text.startswith("{", brace):
            return None, at
        closing, at = group(text, brace)
    return _Own(
        found["kind"],
        opening=opening,
        closing=closing,
        count=int(found["count"] or 0),
        usual=found["usual"],
    ), at


def _after_space(text: str, at: int) -> int:
    if space := _SPACE.match(text, at):
        return space.end()
    return at


def _arguments(
    text: str,
    at: int,
    own: _Own,
) -> tuple[list[str], int]:
    given: list[str] = []
    if own.usual is not None:
        option = re.compile(r"\s*\[([^\[\]]{0,400})\]").match(text, at)
        given.append(option[1] if option else own.usual)
        if option:
            at = option.end()
    while len(given) < own.count and text.startswith(
        "{",
        brace := _after_space(text, at),
    ):
        words, at = group(text, brace)
        given.append(words)
    return given, at
