"""Identifiers and prose as words that both sides of a search share; tokens of a model, estimated."""

from __future__ import annotations

import keyword
import math
import re
from collections import Counter
from functools import lru_cache

CHARACTERS_A_TOKEN = 3.2
"""Source code of many projects lies between 3.2 and 3.8 for the usual tokenisers; the estimate is careful."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_ENGLISH = (
    "a about after all also am an and any are as at be because been before but by can cannot could did do"
    " does doing done down each else even ever every few for from get gets got had has have he her here hi"
    " hello his how i if in into is it its just like made make makes me more most my no not now of off on"
    " once one only or other our out over own same see seems she should so some still such than thanks"
    " that the their them then there these they this those through to too two under until up use used"
    " using very want was we were what when where which while who why will with would you your bug issue"
    " report problem please expected actual behavior behaviour description reproduce version"
    " environment following code example error traceback recent call last file line observed title given"
    " think lot give instead become ever never seem look try tried find found notice noticed happen"
    " happened work correctly incorrect incorrectly wrong always sometimes however therefore maybe"
    " probably actually simply right thank help question info information available system between differ"
    " different lead again left expect back already really quite"
)
_CODE = "self cls args kwargs none true false str int float bool dict list tuple set object typing optional"
STOP_WORDS = frozenset([*_ENGLISH.split(), *_CODE.split(), *(word.lower() for word in keyword.kwlist)])


def estimate_tokens(text: str) -> int:
    """How many tokens of a usual model a text has, rather too many than too few."""
    return math.ceil(len(text) / CHARACTERS_A_TOKEN)


def count_words(text: str) -> Counter[str]:
    """Words of a text: every identifier whole and in its parts, plurals as singulars."""
    found: Counter[str] = Counter()
    for identifier, times in Counter(_IDENTIFIER.findall(text)).items():
        for word in words_of(identifier):
            found[word] += times
    return found


@lru_cache(maxsize=200_000)
def words_of(identifier: str) -> tuple[str, ...]:
    """`LayerNorm_2d` -> layernorm_2d, layer, norm, 2. Words that say nothing are left out."""
    parts = [part.lower() for part in _PART.findall(identifier)]
    whole = identifier.strip("_").lower()
    candidates = [whole, *parts] if len(parts) > 1 else parts
    stems = dict.fromkeys(_stem(word) for word in candidates if len(word) > 1)
    return tuple(word for word in stems if word not in _STOPPED)


def _stem(word: str) -> str:
    """Plurals and -ing forms only: code is written in few forms, and more would join strangers."""
    if word.endswith("ing") and len(word) > 6:
        return word[:-3]
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


_STOPPED = STOP_WORDS | {_stem(word) for word in STOP_WORDS}
