"""A question that is put a second time, with what was wrong, when much of the answer does not hold.

`check=` of a request refuses a whole answer, and refuses it again when a recording is replayed. Here single
items are wrong: the second answer counts when it is better, and what is still wrong is dropped by the caller.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from reenact.asking import ask
from reenact.journal import Scope
from reenact.llm.ask import Model, T
from reenact.llm.prompts import Template

FIRST = "None: this is the first time."
Q = TypeVar("Q")
A = TypeVar("A")
AT_ONCE = 4
"""Questions that are put side by side."""
SHOWN = 12
"""Objections that are shown; a model that errs more often needs no longer list."""


def ask_with_retry(
    run: Scope,
    model: Model,
    name: str,
    template: Template,
    values: Mapping[str, Any],
    answer: type[T],
    *,
    wrong: Callable[[T], Sequence[str]],
    tolerate: Callable[[T], int] = lambda _: 0,
    sample: int | None = None,
) -> T:
    """The better of at most two answers. The prompt also has `objections`, to an earlier answer.

    `tolerate` is how many objections are not worth a second question. Raises AnswerUnusable.
    """
    first = ask(run, model, name, template.fill(**values, objections=FIRST), answer, sample=sample)
    objections = wrong(first)
    if len(objections) <= tolerate(first):
        return first
    more = [f"and {len(objections) - SHOWN} more"] if len(objections) > SHOWN else []
    again = template.fill(**values, objections="\n".join(f"- {one}" for one in (*objections[:SHOWN], *more)))
    second = ask(run, model, f"{name}-again", again, answer, sample=sample)
    return second if len(wrong(second)) < len(objections) else first


def side_by_side(answered: Callable[[Q], A], questions: Sequence[Q]) -> list[A]:
    """The answers, in the order of their questions, several of which are asked at once.

    The first of them is asked alone: what the others share with it is then in the provider's cache.
    """
    first = [answered(one) for one in questions[:1]]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [*first, *pool.map(answered, questions[1:])]


@cache
def prompt_texts(package: str) -> dict[str, dict[str, str]]:
    """Sentences of ours that go into the prompts of a package."""
    return tomllib.loads(files(package).joinpath("prompts/texts.toml").read_text(encoding="utf-8"))
