"""`open_model`: a string becomes a model (names.FORMS); the conversation with it: budget,
retries, repair.
"""

import json
import re
from dataclasses import KW_ONLY, dataclass, field, replace
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path

from reenact.errors import AnswerUnusable, MissingExtra, ModelRefused
from reenact.llm.answers import BadAnswer, read
from reenact.llm.ask import (
    Answer,
    Call,
    Model,
    Reply,
    Request,
    T,
    Text,
    Transient,
    Turn,
    Usage,
    Wire,
)
from reenact.llm.budget import Budget, Priced, Spent
from reenact.llm.names import ModelName, parse_name
from reenact.llm.patience import Clock, Patience, Persistence, RealClock
from reenact.llm.prompts import capped, load_prompt
from reenact.llm.recording import Recorder, Replay
from reenact.redact import redact
from reenact.types import Stop, Tell, tell_nobody

ECHOED = 4000
"""Characters of a bad answer that the model sees again."""


@dataclass(eq=False, repr=False)
class LiveModel:
    """A model that is really asked, over any wire."""

    wire: Wire
    _: KW_ONLY
    budget: Budget = field(default_factory=Budget)
    patience: Patience = field(default_factory=Patience)
    clock: Clock = field(default_factory=RealClock)
    tell: Tell = tell_nobody

    def __post_init__(self) -> None:
        self._persistence = Persistence(
            self.wire.name,
            self.patience,
            self.clock,
            self.tell,
        )

    @property
    def name(self) -> str:
        return self.wire.name

    def carry(self, earlier: Spent) -> None:
        """See `Budget.carry`."""
        self.budget.carry(earlier)

    def price(self, usage: Usage) -> Decimal | None:
        """See `Priced`."""
        if isinstance(self.wire, Priced):
            return self.wire.price(usage)
        return None

    def ask(self, request: Request[T]) -> Answer[T]:
        """A typed answer. Bad ones are sent back with what is wrong, a few times in a row at
        most.
        """
        call = opening(request)
        usage = Usage()
        cost = Decimal(0)
        priced = True
        bad = BadAnswer("")
        for attempt in range(1, self.patience.bad_answers + 1):
            reply, used = self._exchange(call)
            usage = usage + used
            cost = cost + (reply.cost or 0)
            priced = priced and reply.cost is not None
            if reply.finish == "refused":
                reason = redact(capped(reply.text.strip(), 300)) or "no reason given"
                raise ModelRefused(
                    f"{self.name} refused to answer (step {request.step}): {reason}",
                    next_step="Ask another model, or look at what the prompt of this step quotes.",
                )
            try:
                value = read(reply, request)
            except BadAnswer as problem:
                bad = problem
                call = repaired(call, reply, problem)
            else:
                return Answer(
                    value,
                    usage,
                    cost if priced else None,
                    reply.model,
                    attempts=attempt,
                )
        wrong = redact(bad.for_model)
        raise AnswerUnusable(
            f"{self.name} gave {self.patience.bad_answers} answers in a row that cannot be used"
            f" (step {request.step}). The last one: {wrong}",
            next_step="Run again with a stronger model, or look at the prompt of this step.",
            for_model=wrong,
        )

    def _exchange(self, call: Call) -> tuple[Reply, Usage]:
        """One reply, paid for before anybody reads it."""

        def send() -> Reply:
            self.budget.open_call()
            try:
                return self.wire.send(call, self.budget.seconds_left)
            except Transient as fault:
                if fault.billed:
                    lost = call.estimate(Reply("", self.name))
                    self.budget.charge(
                        lost,
                        None,
                        model=self.name,
                        billed=False,
                    )
                raise

        reply = self._persistence.call(send)
        used = reply.usage or call.estimate(reply)
        self.budget.charge(
            used,
            reply.cost,
            model=reply.model,
            billed=self.wire.billed,
        )
        return reply, used

    def __repr__(self) -> str:
        return f"LiveModel({self.name})"


def opening(request: Request[T]) -> Call:
    """The first call of a conversation. Secrets never leave with it."""
    schema = request.schema
    parts = request.prompt.parts
    safe = [
        replace(part, text=redact(part.text)) if isinstance(part, Text) else part for part in parts
    ]
    return Call(
        step=request.step,
        sample=request.sample,
        prompt=f"{request.prompt.name} v{request.prompt.version}",
        system=redact(request.prompt.system),
        turns=(Turn("user", tuple(safe)),),
        schema=schema,
        schema_name=re.sub(r"[^A-Za-z0-9_-]", "_", request.answer.__name__)[:60],
        schema_words=_wording("answer", schema=json.dumps(schema, indent=1)),
        temperature=request.temperature,
        max_tokens=request.max_tokens,
    )


def repaired(call: Call, reply: Reply, problem: BadAnswer) -> Call:
    """The next call after a bad answer: the answer, where that helps, and what is wrong with it."""
    complaint = _wording("repair", problem=problem.for_model)
    earlier = ""
    if problem.echo:
        earlier = capped(
            "\n".join([*reply.offers, reply.text]).strip(),
            ECHOED,
        )
    turns = (
        Turn("assistant", (Text(redact(earlier) or "(no usable answer)"),)),
        Turn("user", (Text(complaint),)),
    )
    # A cut-off answer needs more tokens as well as brevity.
    limit = call.max_tokens * 2 if call.max_tokens and reply.finish == "length" else call.max_tokens
    return replace(
        call,
        turns=(*call.turns, *turns),
        max_tokens=limit,
    )


def _wording(name: str, **values: str) -> str:
    """One of our own prompts about answers, as one text."""
    prompt = load_prompt("reenact.llm", f"wording/{name}.md").fill(**values)
    return "\n\n".join(
        [
            prompt.system,
            *(part.text for part in prompt.parts if isinstance(part, Text)),
        ]
    )


def open_model(
    text: str,
    *,
    budget: Budget | None = None,
    record_to: Path | None = None,
    patience: Patience | None = None,
    clock: Clock | None = None,
    stop: Stop | None = None,
    tell: Tell = tell_nobody,
) -> Model:
    """Open the model that the string names. Nothing is sent yet.

    `record_to` writes every answer to a file that `replay:` reads. `tell` hears of waits, and of
    answers that were recorded for an earlier wording.
    """
    name = parse_name(text)
    stop = stop or Stop()
    model: Model
    if name.kind == "replay":
        model = Replay(
            Path(name.rest).expanduser(),
            tell=tell,
        )
    else:
        patience = patience or Patience()
        clock = clock or RealClock(stop)
        wire = _wire(
            name,
            patience=patience,
            clock=clock,
            stop=stop,
            tell=tell,
            budget=budget,
        )
        model = LiveModel(
            wire,
            budget=budget or Budget(),
            patience=patience,
            clock=clock,
            tell=tell,
        )
    if record_to is None:
        return model
    return Recorder(model, record_to)


def _wire(
    name: ModelName,
    patience: Patience,
    clock: Clock,
    stop: Stop,
    tell: Tell,
    budget: Budget | None,
) -> Wire:
    if name.kind == "command":
        from reenact.llm.command import CommandWire

        return CommandWire(name.rest, patience, clock)
    if name.kind == "relay":
        from reenact.llm.relay import RelayWire

        return RelayWire(
            Path(name.rest).expanduser(),
            patience,
            clock,
            tell,
        )
    if find_spec("pydantic_ai") is None:
        raise MissingExtra("pydantic-ai-slim", "models")
    from reenact.llm.provider import ProviderWire

    wire = ProviderWire(name, patience, stop)
    if budget is not None and wire.billed and wire.price(Usage(1000, 1000)) is None:
        budget.require_price(wire.name)
    return wire
