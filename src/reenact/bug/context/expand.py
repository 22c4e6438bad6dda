"""A report's words in the forms in which code has them: `resuming` -> `resume`, `learning rate` -> `lr`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

WEIGHT = 0.5
"""Of a form that the reporter did not write."""
SHORTEST = 4
_ENDINGS = ("e", "d", "ed", "r", "er", "or", "ion", "ation", "ment", "ly", "y", "able")
SHORT_FORMS: Mapping[str, tuple[str, ...]] = {
    "acc": ("accuracy",),
    "attn": ("attention",),
    "bn": ("batch", "norm"),
    "ckpt": ("checkpoint",),
    "clf": ("classifier",),
    "conv": ("convolution",),
    "cfg": ("config",),
    "emb": ("embedd",),
    "eval": ("evaluation",),
    "fp16": ("half", "precision"),
    "grad": ("gradient",),
    "init": ("initial",),
    "lr": ("learn", "rate"),
    "opt": ("optimizer",),
    "optim": ("optimizer",),
    "param": ("parameter",),
    "pos": ("position",),
    "pred": ("prediction",),
    "prob": ("probability",),
    "sched": ("scheduler",),
    "seq": ("sequence",),
    "std": ("deviation",),
    "tok": ("token",),
    "val": ("validation",),
    "var": ("variance",),
    "vocab": ("vocabulary",),
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
