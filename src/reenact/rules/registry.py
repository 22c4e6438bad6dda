"""All rules there are: found by looking through the folders, chosen by code, prefix, family or tool name."""

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import entry_points

from reenact.errors import InputError
from reenact.program.source import words
from reenact.rules.rule import Rule, Status

_NAMES = words("deeplocalize deepdiagnosis umlaut neuralint autotrainer deepchecker reenact")
FAMILIES = dict(zip(_NAMES, words("DL DD UM NL AT TC RE"), strict=True))
"""Family and the letters of its codes; the folder of `reenact` is called `own`."""
_FOLDERS = tuple("own" if family == "reenact" else family for family in FAMILIES)


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code: ours, then those of other packages (entry point `reenact.rules`)."""
    found: dict[str, Rule] = {}
    for folder in _FOLDERS:
        package = importlib.import_module(f"reenact.rules.{folder}")
        for module in pkgutil.iter_modules(package.__path__):
            name = f"{package.__name__}.{module.name}"
            for member in vars(importlib.import_module(name)).values():
                own = inspect.isclass(member) and member.__module__ == name
                if own and issubclass(member, Rule) and "code" in vars(member):
                    _add(member(), found)
    for point in entry_points(group="reenact.rules"):
        _add(point.load()(), found)
    return tuple(found[code] for code in sorted(found))


def _add(rule: Rule, found: dict[str, Rule]) -> None:
    if rule.code in found:
        raise InputError(f"Two rules have the code {rule.code}: {found[rule.code].name} and {rule.name}.")
    found[rule.code] = rule


def rule(code: str) -> Rule:
    """The rule of a code or a name."""
    wanted = code.strip()
    for one in all_rules():
        if wanted.upper() == one.code or wanted.lower() == one.name:
            return one
    raise InputError(f"There is no rule of that code or name. Received: {code!r}.", next_step="reenact rules")


def chosen(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
    """Rules by code, prefix, name, family or tool; without a wish all that are stable."""
    wanted = (one for one in all_rules() if (_named(one, select) if select else one.status is Status.STABLE))
    return tuple(one for one in wanted if not _named(one, ignore))


def check_words(wanted: Iterable[str]) -> None:
    """Raise InputError for a word that names no rule and no family."""
    for word in wanted:
        if not any(_named(one, (word,)) for one in all_rules()):
            known = [name for one in all_rules() for name in (one.code, one.name)]
            close = difflib.get_close_matches(word, [*known, *FAMILIES], n=2)
            meant = f"Did you mean {' or '.join(close)}? " if close else ""
            raise InputError(
                f"No rule goes by that code, prefix, name or family. Received: {word!r}.",
                next_step=f"{meant}Families: {', '.join(FAMILIES)}. All rules: reenact rules.",
            )


def _named(one: Rule, wanted: Sequence[str]) -> bool:
    names = (one.name, one.family)
    return any(one.code.startswith(word.upper()) or word.lower() in names for word in wanted if word)
