"""Other names of one thing: what a paper calls `initial learning rate` a program calls `lr`."""

import re
from collections.abc import Mapping
from functools import cache, partial

from reenact.files import packaged_table
from reenact.paper.criterion import Kind

SECTIONS = {
    Kind.OPTIMISER: "optimisers",
    Kind.SCHEDULE: "schedules",
    Kind.LOSS: "losses",
    Kind.LAYER: "layers",
}
PARAMETERS = "parameters"
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_EMPTY = frozenset(
    {
        "the",
        "a",
        "an",
        "of",
        "for",
        "in",
        "to",
        "and",
        "its",
        "our",
        "each",
        "per",
        "all",
        "used",
        "value",
        "number",
        "n",
        "num",
        "is",
    }
)
_PLURAL = re.compile(r"(?<=[a-z]{3})s$")
_table = partial(packaged_table, "reenact.paper.fingerprint", "vocabulary.toml")


@cache
def names(section: str) -> Mapping[str, str]:
    """Every name of that section, squeezed, with the one that we use."""
    return {
        squeezed(name): own for own, others in _table()[section].items() for name in (own, *others)
    }


def positions() -> Mapping[str, list[str]]:
    """What the arguments of some calls are called, by position."""
    found: Mapping[str, list[str]] = _table()["positions"]
    return found


def concept(name: str) -> str:
    """Our name of a parameter; empty when it is not a usual one."""
    return names(PARAMETERS).get(squeezed(name), "")


def named(kind: Kind, text: str) -> str:
    """Our name of the optimiser, schedule, loss or layer in a text, the longest; empty when
    there is none.
    """
    section = names(SECTIONS[kind])
    flat = squeezed(text)
    if flat in section:
        return section[flat]
    words = {squeezed(word) for word in re.split(r"[^\w]+", text)}
    # A short name inside another word is chance: `elu` in `relu`.
    met = [name for name in section if name in words or (len(name) > 5 and name in flat)]
    if met:
        return section[max(met, key=len)]
    return ""


def squeezed(text: str) -> str:
    """Without case, spaces and signs."""
    return re.sub(r"[\W_]+", "", text.casefold())


def words_of(text: str, *, plural: bool = False) -> frozenset[str]:
    """The words of a name or a phrase that say something: `numHiddenUnits`, `number of hidden
    units`. `plural` keeps the difference between one seed and several seeds.
    """
    apart = _CAMEL.sub(" ", text.replace("\\", " "))
    words = (word for word in re.split(r"[\W_]+", apart.casefold()) if word and word not in _EMPTY)
    return frozenset(word if plural else _PLURAL.sub("", word) for word in words)


@cache
def common(section: str) -> frozenset[str]:
    """`light`: stems of words that say how, not what. `roles`: words for a network, training or
    measure next to others, such as `teacher`, `critic`, `probe`.
    """
    return frozenset(_table()[section]["words"])
