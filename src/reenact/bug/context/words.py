"""Identifiers and prose as words that both sides of a search share; tokens of a model, estimated.

A report's words are looked for in the forms in which code has them: `resuming` -> `resume`, `learning rate`
-> `lr`.
"""

import keyword
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
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


WEIGHT = 0.5
"""Of a form that the reporter did not write."""
SHORTEST = 4
_ENDINGS = ("e", "d", "ed", "r", "er", "or", "ion", "ation", "ment", "ly", "y", "able")
_SHORT_FORMS = (
    "acc=accuracy attn=attention bn=batch+norm ckpt=checkpoint clf=classifier conv=convolution cfg=config"
    " emb=embedd eval=evaluation fp16=half+precision grad=gradient init=initial lr=learn+rate opt=optimizer"
    " optim=optimizer param=parameter pos=position pred=prediction prob=probability sched=scheduler"
    " seq=sequence std=deviation tok=token val=validation var=variance vocab=vocabulary"
)
SHORT_FORMS: Mapping[str, Sequence[str]] = {
    short: long.split("+") for short, long in (pair.split("=") for pair in _SHORT_FORMS.split())
}
"""Abbreviations of the field, and the words that must all be there for one to be meant."""


def expanded(words: Mapping[str, float], known: Collection[str]) -> Mapping[str, float]:
    """The words with those forms of them that the project uses."""
    found = dict(words)
    for word, weight in words.items():
        for form in _forms(word):
            if form in known and form not in words:
                found[form] = max(found.get(form, 0.0), WEIGHT * weight)
    for short, long in SHORT_FORMS.items():
        if all(word in found for word in long) and short in known:
            found.setdefault(short, WEIGHT * min(found[word] for word in long))
        elif short in words:
            found |= {word: WEIGHT * words[short] for word in long if word in known and word not in found}
    return found


def _forms(word: str) -> Iterator[str]:
    if len(word) < SHORTEST or not word.isalpha():
        return
    yield from (word + ending for ending in _ENDINGS)
    yield from (word.removesuffix(ending) for ending in _ENDINGS if len(word) - len(ending) >= SHORTEST)
    if word[-1] == word[-2]:
        yield word[:-1]
