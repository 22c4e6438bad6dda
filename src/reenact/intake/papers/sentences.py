"""A paragraph into sentences, and where each is in the source.

Abbreviations, decimals, formulas, citations and addresses stay whole.
Joined by single spaces the sentences are the paragraph again, with its white space made single.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reenact.intake.papers.paper import Span

_WHOLE = re.compile(
    # Formulas, citations, addresses: no sentence ends within one.
    r"\$\$[^$]{1,4000}\$\$|(?<!\\)\$(?:[^$\\]|\\.){1,1000}\$|\[@[^\[\]]{1,500}\]"
    r"|\b(?:https?://|www\.)[^\s<>]{0,500}[^\s<>.,;:!?)]"
)
_END = re.compile(r"[.!?…]+[\"'”’)\]}*_]{0,3}(?= )")
_OPENING = re.compile(
    r"[\"'“‘(\[{*_$]*[^\W_a-z]|[\"'“‘(\[{*_]*\\[a-zA-Z]|[\"'“‘(]*\$|\[@|\[[a-zA-Z]+:[^\s\[\]]|[•–—-] "
)
_LAST_WORD = re.compile(r"[(\[\"'“]?([^\s()\[\]\"'“]+?)[.!?…]+[\"'”’)\]}*_]*$")
_ALWAYS = frozenset(
    """
    e.g i.e cf viz resp vs fig figs eq eqs eqn eqns sec secs tab tabs thm lem alg algs appx chap approx ca
    dr prof mr mrs ms st w.r.t s.t
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
"""Whatever follows, the sentence goes on."""
_BEFORE_NUMBERS = frozenset(
    """no nos nr vol pp p ch ref refs app prop def defs cor sect supp suppl tbl""".split()  # noqa: SIM905
)
_NUMBER = re.compile(r"[(\[]?[\d$]|\[[a-zA-Z]+:")
"""A number, or the label that stands for one."""
_BEFORE_BRACKETS = frozenset(["al", "etc"])
_BEFORE_NAMES = ("and", "by", "with", "from", "to")
_INITIAL = re.compile(r"[A-Z](?:\.-?[A-Z])*")


def split(paragraph: str) -> tuple[str, ...]:
    """The sentences of a paragraph, in order; none when it is empty."""
    text = " ".join(paragraph.split())
    if not text:
        return ()
    closed = [found.span() for found in _WHOLE.finditer(text)]
    cuts: list[int] = []
    behind = 0
    for end in _END.finditer(text):
        while behind < len(closed) and closed[behind][1] <= end.start():
            behind += 1
        inside = behind < len(closed) and closed[behind][0] <= end.start()
        if not inside and _ends(text, end.start(), end.end()):
            cuts.append(end.end())
    starts = [0, *(cut + 1 for cut in cuts)]
    return tuple(text[start:stop] for start, stop in zip(starts, [*cuts, len(text)], strict=True))


def _ends(text: str, stop: int, cut: int) -> bool:
    """Whether the stop before `cut` ends a sentence."""
    follows = text[cut + 1 : cut + 40]
    if not _OPENING.match(follows):
        return False
    if text[stop] != ".":
        return True
    found = _LAST_WORD.search(text[max(0, cut - 60) : cut])
    word = found[1] if found else ""
    small = word.casefold()
    if small in _ALWAYS or (small in _BEFORE_NUMBERS and _NUMBER.match(follows)):
        return False
    if small in _BEFORE_BRACKETS and follows.startswith(("(", "[")):
        return False
    return not _names_someone(word, text[: cut - 1])


def _names_someone(word: str, before: str) -> bool:
    """`J. Smith`: a single capital is an initial, unless it names a thing (`matrix A.`)."""
    if not _INITIAL.fullmatch(word):
        return False
    earlier = before[: -len(word)].rstrip()[-30:].split(" ")[-1] if before else ""
    return not re.fullmatch(r"[a-z][a-z-]+", earlier) or earlier in _BEFORE_NAMES


ANCHOR = 24
"""So many letters of a text whose formulas and macros are written out differently are looked for."""
SHORTEST = 6
DEEPEST = 12
"""Environments around a label that are looked at."""
MOST_MISSES = 500
"""After so many texts that could not be found no other is looked for: a search may not cost without bound."""
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_TAG = re.compile(r"<[^<>]{1,6000}>")
_COMMANDS = re.compile(r"\\(?:begin|end|label|ref|eqref|cref|Cref|autoref)\s*\{[^{}]*\}|\\[A-Za-z@]+\*?")
_CHANGED = re.compile(r"\$[^$]*\$|\[[^\[\]]*\]")
"""Formulas, citations and references, which macros may have changed."""
_LETTERS = re.compile(r"[^\W_]")
_CLOSING = re.compile(r"[.!?)\]}$\"'”’]{0,4}")


@dataclass(frozen=True)
class _File:
    name: str
    text: str
    letters: str
    places: list[int]
    """Where each letter is in the file's text."""


class Locator:
    """Finds the text of a paper again in its source: spans that a reader can open.

    Compared by letters and digits alone, without commands and comments of LaTeX, forwards from the last find.
    A text that cannot be found has the span (-1, -1): it is never guessed.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._files = [_letters(name, text) for name, text in texts.items()]
        self._file = 0
        self._at = 0
        self._misses = 0

    def find(self, text: str, *, label: str = "", within: str = "") -> Span:
        """Where the text is, or the environment with that label; in one file alone where one is named."""
        if label and (place := self._labelled(label)):
            return place
        whole = _plain(text)
        parts = [part for piece in _CHANGED.split(text) if len(part := _plain(piece)) >= 3] or [whole]
        if len(whole) >= SHORTEST and self._misses < MOST_MISSES:
            longest = max(parts, key=len)
            for wanted in dict.fromkeys((whole, longest, longest[:ANCHOR], longest[-ANCHOR:])):
                for number, begin in self._order(within) if len(wanted) >= SHORTEST else ():
                    at = self._files[number].letters.find(wanted, begin)
                    if at >= 0:
                        ends = (whole, whole) if wanted == whole else (parts[0], parts[-1])
                        return self._reached(number, at, wanted, ends, len(whole))
            self._misses += 1
        return Span(within or (self._files[self._file].name if self._files else ""), -1, -1)

    def _reached(self, number: int, at: int, wanted: str, ends: tuple[str, str], size: int) -> Span:
        """The span around a part that was found, from the first part of its text to the last."""
        file, reach = self._files[number], 2 * size + 60
        first, last = ends
        start = file.letters.rfind(first, max(0, at - reach), at + len(first))
        stop = file.letters.find(last, at, at + reach)
        start = start if 0 <= start <= at else at
        stop = max(stop + len(last) if stop >= 0 else 0, at + len(wanted))
        end = file.places[stop - 1] + 1
        closing = _CLOSING.match(file.text, end)
        self._file, self._at = number, stop
        return Span(file.name, file.places[start], closing.end() if closing else end)

    def _labelled(self, label: str) -> Span | None:
        """The innermost environment around `\\label{...}`."""
        for file in self._files:
            at = file.text.find(f"\\label{{{label}}}")
            begin = at
            for _ in range(DEEPEST):
                begin = file.text.rfind("\\begin{", 0, max(begin, 0))
                if begin < 0:
                    break
                name = file.text[begin + 7 : file.text.find("}", begin)]
                end = file.text.find(f"\\end{{{name}}}", at)
                if end >= 0 and file.text.rfind(f"\\end{{{name}}}", begin, at) < 0:
                    return Span(file.name, begin, end + len(name) + 6)
        return None

    def _order(self, within: str) -> Iterator[tuple[int, int]]:
        """Files, and where to begin in each, in the order in which a text is likely to stand there."""
        for number in (*range(self._file, len(self._files)), *range(self._file)):
            if not within or self._files[number].name == within:
                yield number, self._at if number == self._file else 0
        if self._at and (not within or self._files[self._file].name == within):
            yield self._file, 0


def _letters(name: str, text: str) -> _File:
    shown = _COMMENT.sub(_blank, text) if name.endswith((".tex", ".ltx")) else text
    shown = _TAG.sub(_blank, shown) if name.endswith((".html", ".htm", ".xhtml")) else shown
    shown = _COMMANDS.sub(_blank, shown)
    places = [found.start() for found in _LETTERS.finditer(shown)]
    return _File(name, text, _small("".join(shown[place] for place in places)), places)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _plain(text: str) -> str:
    """The letters of a text as they would stand in a source; commands in formulas leave none."""
    return _small("".join(_LETTERS.findall(_COMMANDS.sub(" ", text))))


def _small(letters: str) -> str:
    small = letters.lower()
    if len(small) == len(letters):
        return small
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in letters)
