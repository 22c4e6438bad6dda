"""The conversation with a living model: budget, patience, parsing and repair, the same for every variety."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal

from reenact.errors import AnswerUnusable, ModelRefused
from reenact.llm.answers import BadAnswer, read
from reenact.llm.ask import Answer, Part, Request, T, Text, Usage, schema_of
from reenact.llm.budget import Budget, Spent
from reenact.llm.clock import Clock, RealClock
from reenact.llm.patience import Patience, Persistence
from reenact.llm.prompts import load_prompt
from reenact.llm.quoting import capped
from reenact.llm.wire import Call, Reply, Transient, Turn, Wire, estimate
from reenact.redact import redact
from reenact.types import Tell, tell_nobody

ECHOED = 4000
"""Characters of a bad answer that the model sees again."""


class LiveModel:
    """A model that is really asked, over any wire."""

    def __init__(
        self,
        wire: Wire,
        *,
        budget: Budget | None = None,
        patience: Patience | None = None,
        clock: Clock | None = None,
        tell: Tell = tell_nobody,
    ) -> None:
        self._wire = wire
        self._patience = patience or Patience()
        self._budget = budget or Budget()
        self._persistence = Persistence(wire.name, self._patience, clock or RealClock(), tell)

    @property
    def name(self) -> str:
        return self._wire.name

    def carry(self, earlier: Spent) -> None:
        """See `Budget.carry`."""
        self._budget.carry(earlier)

    def ask(self, request: Request[T]) -> Answer[T]:
        """A typed answer. Bad ones are sent back with what is wrong, a few times in a row at most."""
        call = opening(request)
        usage, cost = Usage(), Decimal(0)
        priced = True
        bad = BadAnswer("")
        for attempt in range(1, self._patience.bad_answers + 1):
            reply, used = self._exchange(call)
            usage, cost = usage + used, cost + (reply.cost or 0)
            priced = priced and reply.cost is not None
            self._refuse_refusal(reply, request.step)
            try:
                value = read(reply, request)
            except BadAnswer as problem:
                bad = problem
                call = repaired(call, reply, problem)
            else:
                return Answer(value, usage, cost if priced else None, reply.model, attempts=attempt)
        wrong = redact(bad.for_model)
        raise AnswerUnusable(
            f"{self.name} gave {self._patience.bad_answers} answers in a row that cannot be used"
            f" (step {request.step}). The last one: {wrong}",
            next_step="Run again with a stronger model, or look at the prompt of this step.",
            for_model=wrong,
        )

    def _exchange(self, call: Call) -> tuple[Reply, Usage]:
        """One reply, paid for before anybody reads it."""

        def send() -> Reply:
            self._budget.open_call()
            try:
                return self._wire.send(call, self._budget.seconds_left)
            except Transient as fault:
                if fault.billed:
                    lost = estimate(call, Reply("", self.name))
                    self._budget.charge(lost, None, model=self.name, billed=False)
                raise

        reply = self._persistence.call(send)
        used = reply.usage or estimate(call, reply)
        self._budget.charge(used, reply.cost, model=reply.model, billed=self._wire.billed)
        return reply, used

    def _refuse_refusal(self, reply: Reply, step: str) -> None:
        if reply.finish == "refused":
            said = redact(capped(reply.text.strip(), 300)) or "no reason given"
            raise ModelRefused(
                f"{self.name} refused to answer (step {step}): {said}",
                next_step="Ask another model, or look at what the prompt of this step quotes.",
            )

    def __repr__(self) -> str:
        return f"LiveModel({self.name})"


def opening(request: Request[T]) -> Call:
    """The first call of a conversation. Secrets never leave with it."""
    schema = schema_of(request.answer)
    asked = load_prompt("reenact.llm", "wording/answer.md").fill(schema=json.dumps(schema, indent=1))
    return Call(
        step=request.step,
        sample=request.sample,
        prompt=f"{request.prompt.name} v{request.prompt.version}",
        system=redact(request.prompt.system),
        turns=(Turn("user", tuple(_safe(part) for part in request.prompt.parts)),),
        schema=schema,
        schema_name=re.sub(r"[^A-Za-z0-9_-]", "_", request.answer.__name__)[:60],
        schema_words="\n\n".join([asked.system, *(p.text for p in asked.parts if isinstance(p, Text))]),
        temperature=request.temperature,
        max_tokens=request.max_tokens,
    )


def repaired(call: Call, reply: Reply, problem: BadAnswer) -> Call:
    """The next call after a bad answer: what it said, where that helps, and what is wrong with it."""
    told = load_prompt("reenact.llm", "wording/repair.md").fill(problem=problem.for_model)
    complaint = "\n\n".join([told.system, *(p.text for p in told.parts if isinstance(p, Text))])
    said = capped("\n".join([*reply.offers, reply.text]).strip(), ECHOED) if problem.echo else ""
    turns = (
        Turn("assistant", (Text(redact(said) or "(no usable answer)"),)),
        Turn("user", (Text(complaint),)),
    )
    # A cut-off answer needs room as well as brevity.
    room = call.max_tokens * 2 if call.max_tokens and reply.finish == "length" else call.max_tokens
    return replace(call, turns=(*call.turns, *turns), max_tokens=room)


def _safe(part: Part) -> Part:
    return replace(part, text=redact(part.text)) if isinstance(part, Text) else part
