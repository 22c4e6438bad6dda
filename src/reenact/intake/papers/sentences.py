"""A paragraph into sentences.

Abbreviations, decimals, formulas, citations and addresses stay whole.
Joined by single spaces the sentences are the paragraph again, with its white space made single.
"""

from __future__ import annotations

import re

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
