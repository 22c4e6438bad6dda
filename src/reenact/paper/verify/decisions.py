"""What was decided and assumed, held against the code: the settings that a sentence names with a number."""

import re
from collections.abc import Iterator

from reenact.paper.criterion import Check, Kind, Value
from reenact.paper.fingerprint.vocabulary import PARAMETERS, names, squeezed
from reenact.paper.quantity import quantities, ready
from reenact.paper.verify.mechanical import Reading, looked_up

_BEFORE = re.compile(r"([\w-]+(?:[ -][\w-]+){0,2}?)\s*(?:(?:is|are|was|of|to|at|set|equal|fixed|=|:)\s*)*$")
_AFTER = re.compile(r"\s*([\w-]+(?:[ -][\w-]+){0,2})")
LEAST = 5
"""Letters of a name that means a setting in any sentence."""


def beside_code(sentence: str, code: Reading) -> str:
    """The sentence, and what the code has of the settings in it where a program can tell."""
    found = [looked_up(check, code, sentence) for check in named_settings(sentence)]
    held = dict.fromkeys(str(line) for one in found if one.value is Value.PASS for line in one.lines)
    otherwise = [f"{one.seen} ({one.lines[0]})" for one in found if one.value is Value.FAIL and one.lines]
    if otherwise:
        return f"{sentence} [not so in the code: {' '.join(otherwise)}]"
    return f"{sentence} [so in the code: {', '.join(held)}]" if held else sentence


def named_settings(sentence: str) -> Iterator[Check]:
    """Usual settings with the number that the sentence gives them."""
    text = ready(sentence)
    for one in quantities(sentence):
        before = _BEFORE.search(text[: one.start])
        after = _AFTER.match(text[one.start + len(one.written) :])
        for words in (before, after):
            subject = _usual(words[1], last=words is before) if words else ""
            if subject:
                yield Check(Kind.PARAMETER, subject, one.written.strip())
                break


def _usual(words: str, *, last: bool) -> str:
    """Our name of the setting that these words end or begin with; empty when there is none."""
    parts = words.split()
    for count in range(len(parts), 0, -1):
        name = " ".join(parts[-count:] if last else parts[:count])
        if len(squeezed(name)) >= LEAST and (ours := names(PARAMETERS).get(squeezed(name), "")):
            return ours
    return ""
