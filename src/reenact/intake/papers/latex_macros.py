r"""The author's own commands that pandoc cannot follow, written out where they are used.

Those that open an environment without closing it (`\newcommand{\be}{\begin{equation}}`), environments made of
others, and commands that hold a table: a table is made plain before pandoc expands anything. Of those built
with TeX's machinery (a name with `@` in it) the arguments stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from reenact.intake.papers.detex import group

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
"""What is made anew, not what is changed: pandoc knows the commands of LaTeX itself better."""
_FRAME = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}")
_TABLE = re.compile(r"\\begin\s*\{(?:tabular[x*y]?|tabulary|longtable|NiceTabular|tblr)\}")
_MACHINERY = re.compile(r"\\[A-Za-z]*@[A-Za-z]")
_PLACE = re.compile(r"#(\d)")
_SPACE = re.compile(r"[ \t]*\n?[ \t]*")
_MATHS = re.compile(
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
    room: int = MOST_GROWN

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
        parts: list[str] = []
        at = 0
        while self.room > 0 and (found := used.search(text, at)):
            own = self.commands[found["name"]] if found["name"] else self.environments[found["frame"]]
            words, end = own.closing, found.end()
            if found["how"] != "end":
                given, end = _arguments(text, end, own)
                if len(own.opening) + own.opening.count("#") * sum(map(len, given)) > self.room:
                    break
                words = _stand_for(given) if own.machinery else _filled(own.opening, given)
            self.room -= len(words)
            parts += [text[at : found.start()], words]
            at = end
        return "".join((*parts, text[at:]))


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
        f"\\ensuremath{{{words}}}" if _MATHS.search(words) and "$" not in words else words for words in given
    )
