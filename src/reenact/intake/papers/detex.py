"""LaTeX of one line (a title, a caption, an entry of a bibliography) -> text. Formulas stay as they are."""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323",
}  # fmt: skip
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å",
    "AA": "Å", "i": "ı", "j": "ȷ", "ldots": "…", "dots": "…", "textasciitilde": "~", "textendash": "–",
    "textemdash": "—", "textbackslash": "\\", "copyright": "©", "S": "§", "textregistered": "®",
}  # fmt: skip
MOST_GROUP = 200_000
_BRACE = re.compile(r"\\.|[{}]", re.S)
_MATHS = re.compile(r"(?<!\\)\$(?:[^$\\]|\\.)+\$")
_ACCENT = re.compile(
    r"\{?\\(?:([`'^~\"=.])\s*\{?(\\?[A-Za-z])\}?|([uvHckrd])(?:\s*\{(\\?[A-Za-z])\}|\s+([A-Za-z])))\}?"
)
_CITE = re.compile(r"\\[Cc]ite[a-zA-Z]*\*?\s*(?:\[[^\]]{0,200}\]){0,2}\s*\{([^{}]*)\}")
_REF = re.compile(r"\\(?:ref|eqref|[cC]ref|autoref)\s*\{([^{}]*)\}")
_LINK = re.compile(r"\\href\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_NAMED = re.compile(r"\\([A-Za-z]+)(?:\s+|(?=[^A-Za-z])|\Z)")


def detex(text: str) -> str:
    """The words of a line."""
    parts: list[str] = []
    at = 0
    for maths in _MATHS.finditer(text):
        parts += [_words(text[at : maths.start()]), maths[0]]
        at = maths.end()
    return " ".join("".join((*parts, _words(text[at:]))).split())


def _words(text: str) -> str:
    text = _CITE.sub(lambda found: _cited(found[1]), text)
    text = _LINK.sub(lambda found: f"{found[2]} ({found[1]})", _REF.sub(r"[\1]", text))
    text = _ACCENT.sub(_accented, text)
    text = text.replace("\\\\", " ").replace("~", " ").replace("---", "—").replace("--", "–")
    text = text.replace("``", "“").replace("''", "”").replace("\\newblock", " ")
    text = re.sub(r"\\bibinfo\s*\{[^{}]*\}", "", text)
    text = re.sub(r"\\(?:label|vspace|hspace|footnotemark)\*?\s*(?:\{[^{}]*\})?", "", text)
    text = _NAMED.sub(lambda found: _LETTERS.get(found[1], ""), text)
    return re.sub(r"\\([%&$#_{}, ;:!/-])", r"\1", re.sub(r"(?<!\\)[{}]", "", text))


def _cited(keys: str) -> str:
    from reenact.intake.papers.citations import marked

    return marked(key.strip() for key in keys.split(","))


def _accented(found: re.Match[str]) -> str:
    accent = found[1] or found[3]
    letter = (found[2] or found[4] or found[5]).lstrip("\\")
    return unicodedata.normalize("NFC", letter + _ACCENTS[accent])


def group(text: str, at: int, most: int = MOST_GROUP) -> tuple[str, int]:
    """What stands between the brace at `at` and the one that closes it, and where that ends.

    A brace that is not closed within so many characters closes there: braces that nobody closes would cost
    a search of the whole text each.
    """
    depth = 0
    for found in _BRACE.finditer(text, at, at + most):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return text[at + 1 : found.start()], found.end()
    end = min(at + most, len(text))
    return text[at + 1 : end], end
