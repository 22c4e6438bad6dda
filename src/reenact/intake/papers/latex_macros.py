"""LaTeX of one line (a title, a caption, an entry of a bibliography) -> text. Formulas stay as they are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

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


def detex(text: str) -> str:
    """The words of a line."""
    parts = [maths if number % 2 else _words(maths) for number, maths in enumerate(_MATHS.split(text))]
    return " ".join("".join(parts).split())


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
    from reenact.intake.papers.references import marked

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


Made: TypeAlias = tuple[str, int] | None
"""What stands for something that was found, and where the text goes on; none ends the search."""


def rewritten(
    text: str, wanted: re.Pattern[str], make: Callable[[re.Match[str]], Made], most: int = MOST_REWRITTEN
) -> str:
    """The text with what `make` gives for each find, one after the other."""
    parts: list[str] = []
    at = 0
    for _ in range(most):
        found = wanted.search(text, at)
        made = make(found) if found else None
        if found is None or made is None:
            break
        parts += [text[at : found.start()], made[0]]
        at = made[1]
    return "".join((*parts, text[at:]))


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
"""What is defined first, not what is redefined: pandoc knows the commands of LaTeX itself better."""
_FRAME = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}")
_TABLE = re.compile(r"\\begin\s*\{(?:tabular[x*y]?|tabulary|longtable|NiceTabular|tblr)\}")
_MACHINERY = re.compile(r"\\[A-Za-z]*@[A-Za-z]")
_PLACE = re.compile(r"#(\d)")
_SPACE = re.compile(r"[ \t]*\n?[ \t]*")
_SIGNS = re.compile(
    r"\\(?:pm|mp|times|cdot|leq?|geq?|approx|sim|infty|frac|sqrt|math[a-z]+)(?![A-Za-z])|(?<!\\)[\^_]"
)


@dataclass(frozen=True, slots=True)
class _Own:
    """A definition of the author."""

    opening: str
    closing: str
    """What ends an environment; empty for a command."""
    count: int
    usual: str | None
    """What stands for the first argument when it is not given."""
    machinery: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """A text without such commands."""

    text: str
    machinery: tuple[str, ...] = ()
    """Commands whose arguments stand for them."""


def written_out(text: str) -> Written:
    """The text with these commands and environments replaced by what they stand for."""
    writer = _Writer()
    parts: list[str] = []
    at = 0
    for kind, name, own, start, end in _definitions(text):
        (writer.commands if kind == "command" else writer.environments)[name] = own
        parts.append(text[at:start])
        at = end
    if not parts:
        return Written(text)
    machinery = tuple(name for name, own in writer.commands.items() if own.machinery)
    return Written(writer.write("".join((*parts, text[at:]))), machinery)


@dataclass
class _Writer:
    commands: dict[str, _Own] = field(default_factory=dict)
    environments: dict[str, _Own] = field(default_factory=dict)
    left: int = MOST_GROWN

    def write(self, text: str) -> str:
        names, frames = (
            "|".join(map(re.escape, own)) or "(?!)" for own in (self.commands, self.environments)
        )
        used = re.compile(
            rf"\\(?:(?P<name>{names})(?![A-Za-z@])|(?P<how>begin|end)\s*\{{(?P<frame>{frames})\}})"
        )
        for _ in range(ROUNDS):
            new = self._round(text, used)
            if new == text:
                break
            text = new
        return text

    def _round(self, text: str, used: re.Pattern[str]) -> str:
        def write(found: re.Match[str]) -> Made:
            if self.left <= 0:
                return None
            own = self.commands[found["name"]] if found["name"] else self.environments[found["frame"]]
            words, end = own.closing, found.end()
            if found["how"] != "end":
                given, end = _arguments(text, end, own)
                if len(own.opening) + own.opening.count("#") * sum(map(len, given)) > self.left:
                    return None
                words = _stand_for(given) if own.machinery else _filled(own.opening, given)
            self.left -= len(words)
            return words, end

        return rewritten(text, used, write)


def _definitions(text: str) -> Iterator[tuple[str, str, _Own, int, int]]:
    """Those that pandoc cannot follow, each with its place."""
    at = 0
    for _ in range(MOST_DEFINED):
        found = _DEFINED.search(text, at)
        if found is None:
            return
        opening, at = group(text, found.end())
        closing = ""
        if found["kind"] == "environment":
            space = _SPACE.match(text, at)
            brace = space.end() if space else at
            if not text.startswith("{", brace):
                continue
            closing, at = group(text, brace)
        count = int(found["count"] or 0)
        machinery = found["kind"] == "command" and count > 0 and bool(_MACHINERY.search(opening))
        own = _Own(opening, closing, count, found["usual"], machinery)
        if len(opening) <= LONGEST and (machinery or _hides(own)):
            yield found["kind"], found["name"] or found["bare"], own, found.start(), at


def _hides(own: _Own) -> bool:
    """Whether a frame of the document stands in the definition alone."""
    if own.closing:
        return bool(_FRAME.search(own.opening))
    frames = [found[1] for found in _FRAME.finditer(own.opening)]
    return frames.count("begin") != frames.count("end") or bool(_TABLE.search(own.opening))


def _arguments(text: str, at: int, own: _Own) -> tuple[list[str], int]:
    given: list[str] = []
    if own.usual is not None:
        option = re.compile(r"\s*\[([^\[\]]{0,400})\]").match(text, at)
        given.append(option[1] if option else own.usual)
        at = option.end() if option else at
    while len(given) < own.count:
        space = _SPACE.match(text, at)
        brace = space.end() if space else at
        if not text.startswith("{", brace):
            break
        words, at = group(text, brace)
        given.append(words)
    return given, at


def _filled(words: str, given: list[str]) -> str:
    places = dict(enumerate(given, start=1))
    return _PLACE.sub(lambda place: places.get(int(place[1]), ""), words)


def _stand_for(given: list[str]) -> str:
    """The arguments alone; signs of maths outside of a formula would be lost."""
    return " ".join(
        f"\\ensuremath{{{words}}}" if _SIGNS.search(words) and "$" not in words else words for words in given
    )
