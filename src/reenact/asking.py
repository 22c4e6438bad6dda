"""How a pipeline asks a model: the question and its answer are one step of the journal, paid
for once.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any, TypeVar

from reenact.errors import AnswerUnusable
from reenact.journal import Cost, Journal, Kind, OpenRun, Scope, State
from reenact.llm.ask import Answer, Model, Prompt, Request, T
from reenact.llm.budget import Limited, Spent
from reenact.llm.prompts import Template

FIRST = "None: this is the first time."
Q = TypeVar("Q")
A = TypeVar("A")
AT_ONCE = 4
"""Questions that are put side by side."""
SHOWN = 12
"""Objections that are shown; a model that errs more often needs no longer list."""


def ask(
    run: Scope,
    model: Model,
    name: str,
    prompt: Prompt,
    answer: type[T],
    *,
    check: Callable[[T], object] | None = None,
    sample: int | None = None,
    temperature: float | None = None,
) -> T:
    """The answer of the step `name`: from the journal, or from the model and then into the journal.

    Raises AnswerUnusable, also again when the same question is continued.
    """
    path = run.path(name, sample=sample)
    request = Request(
        path,
        prompt,
        answer,
        temperature,
        sample=sample or 0,
        check=check,
    )
    returns: Any = Answer[answer]  # type: ignore[valid-type]
    given: Answer[T] = run.step(
        name,
        lambda: model.ask(request),
        kind=Kind.LLM,
        inputs=asked(request, model),
        returns=returns,
        cost=paid,
        final=(AnswerUnusable,),
        sample=sample,
        shared=True,
    )
    return given.value


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

    `check` of `ask` refuses a whole answer, also when a recording is replayed. Here single items
    are wrong: what is still wrong is dropped by the caller. `tolerate` is how many objections are
    not worth a second question. Raises AnswerUnusable.
    """
    first = ask(
        run,
        model,
        name,
        template.fill(**values, objections=FIRST),
        answer,
        sample=sample,
    )
    objections = wrong(first)
    if len(objections) <= tolerate(first):
        return first
    more = [f"and {len(objections) - SHOWN} more"] if len(objections) > SHOWN else []
    again = template.fill(
        **values,
        objections="\n".join(f"- {one}" for one in (*objections[:SHOWN], *more)),
    )
    second = ask(
        run,
        model,
        f"{name}-again",
        again,
        answer,
        sample=sample,
    )
    if len(wrong(second)) < len(objections):
        return second
    return first


def side_by_side(
    answered: Callable[[Q], A],
    questions: Sequence[Q],
) -> list[A]:
    """The answers, in the order of their questions, several of which are asked at once.

    The first of them is asked alone: what the others share with it is then in the provider's cache.
    """
    first = [answered(one) for one in questions[:1]]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [
            *first,
            *pool.map(answered, questions[1:]),
        ]


def carry_budget(model: Model, run: OpenRun, journal: Journal) -> None:
    """What earlier executions of a continued run have spent counts against the limits of this
    one.
    """
    if not (run.is_continued and isinstance(model, Limited)):
        return
    record = run.record
    answered = [
        step for step in journal.steps(record) if step.kind is Kind.LLM and step.state is State.DONE
    ]
    tokens = record.tokens_in + record.tokens_out
    money = Decimal(record.money)
    model.carry(
        Spent(
            len(answered),
            tokens,
            money,
            record.worked_s,
            unpriced=record.unpriced,
        )
    )


def asked(
    request: Request[Any],
    model: Model,
) -> Mapping[str, Any]:
    """What an answer depends on, and what a reader of the journal wants to see of the question."""
    prompt = request.prompt
    asks = {
        "model": model.name,
        "hash": request.hash,
        "prompt": f"{prompt.name} v{prompt.version}",
    }
    limits = {name: getattr(request, name) for name in ("temperature", "max_tokens", "sample")}
    return {
        **asks,
        "system": prompt.system,
        "parts": prompt.parts,
        **limits,
    }


def paid(answer: Answer[Any]) -> Cost:
    """What an answer cost, in the journal's words."""
    return Cost(answer.cost, answer.usage.input_tokens, answer.usage.output_tokens)
