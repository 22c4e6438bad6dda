"""A question that is put a second time, with what was wrong, when much of the answer does not hold.

`check=` of a request refuses a whole answer, and refuses it again when a recording is replayed. Here single
items are wrong: the second answer counts when it is better, and what is still wrong is dropped by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reenact.asking import ask
from reenact.journal import Scope
from reenact.llm.ask import Model, Prompt, T

FIRST = "None: this is the first time."
SHOWN = 12
"""Objections that are told; a model that errs more often needs no longer list."""


def ask_with_retry(
    run: Scope,
    model: Model,
    name: str,
    fill: Callable[[str], Prompt],
    answer: type[T],
    *,
    wrong: Callable[[T], Sequence[str]],
    tolerate: Callable[[T], int] = lambda _: 0,
) -> T:
    """The better of at most two answers. `fill` makes the prompt from the objections to an earlier answer.

    `tolerate` says how many objections are not worth a second question. Raises AnswerUnusable.
    """
    first = ask(run, model, name, fill(FIRST), answer)
    objections = wrong(first)
    if len(objections) <= tolerate(first):
        return first
    told = "\n".join(f"- {one}" for one in objections[:SHOWN])
    if len(objections) > SHOWN:
        told += f"\n- and {len(objections) - SHOWN} more"
    second = ask(run, model, f"{name}-again", fill(told), answer)
    return second if len(wrong(second)) < len(objections) else first
