"""llm: changes that a language model proposes, each trained and measured; nothing it says is believed.

The study's second listing asked for a configuration without showing the faulty one. Here the model sees the
program, the values in force and what the diagnosis accuses, answers in knobs and values, several times; what
names no knob of the program is dropped.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel, Field

from reenact.asking import asked, paid
from reenact.diagnosis.llm_detector.question import numbered
from reenact.errors import AnswerUnusable, MissingPart
from reenact.journal import Kind
from reenact.llm.ask import Answer, Request
from reenact.llm.prompts import load_prompt
from reenact.program.knob import Knob
from reenact.program.patch import Patch, change_for
from reenact.repairs.search_context import SearchContext
from reenact.repairs.space import fitting
from reenact.repairs.strategies.scoreboard import Scoreboard, once

ALTERNATIVES = 6
"""Usual values of a knob that are shown."""


class Turn(BaseModel):
    """One knob and its new value."""

    knob: str = Field(description="Name of the knob, exactly as in the list.")
    value: float | int | str | bool | None = Field(description="Its new value.")
    reason: str = Field(default="", description="Why, in a few words.")


class Proposal(BaseModel):
    """One change, made of all turns together."""

    turns: list[Turn] = Field(max_length=20)


class Llm:
    """Asks the model that `--model` names."""

    name = "llm"

    def search(self, bench: SearchContext) -> list[Patch]:
        """See `Strategy.search`."""
        if bench.model is None or bench.questions is None:
            raise MissingPart("The strategy llm needs a model.", next_step="Name one with --model.")
        base = bench.base()
        knobs = {str(knob.id): knob for knob in bench.knobs}
        proposals = [self._ask(bench, base, sample) for sample in range(bench.wishes.samples)]
        patches = once([_patch(one, knobs, bench) for one in proposals if one is not None])
        board = Scoreboard(patches)
        for patch in patches:
            if patch and bench.affords(bench.cost(patch)):
                board.add([patch], bench.scores([patch]))
        return [patch for patch, score in board if bench.better(base, score)]

    def _ask(self, bench: SearchContext, base: float, sample: int) -> Proposal | None:
        model, scope = bench.model, bench.questions
        assert model is not None
        assert scope is not None
        request = replace(_request(bench, base, scope.path("proposal", sample=sample)), sample=sample)
        try:
            answer = scope.step(
                "proposal", lambda: model.ask(request), kind=Kind.LLM, inputs=asked(request, model),
                returns=Answer[Proposal], cost=paid, final=(AnswerUnusable,), sample=sample,
                shared=True,
            )  # fmt: skip
        except AnswerUnusable:
            return None
        return answer.value


def _request(bench: SearchContext, base: float, step: str) -> Request[Proposal]:
    value = base if bench.trainer.measure.larger_is_better else -base
    prompt = load_prompt("reenact.repairs.strategies", "proposal.md").fill(
        task=bench.evidence.task.value,
        metric=bench.trainer.measure.name,
        base=f"{value:.4g}",
        accused="\n".join(f"{one.first.code} {one.first.saw}" for one in bench.suspects) or "nothing",
        knobs="\n".join(_line(knob) for knob in bench.knobs),
        program=numbered(bench.program),
    )
    return Request(step=step, prompt=prompt, answer=Proposal, temperature=bench.wishes.temperature)


def _line(knob: Knob) -> str:
    usual = ", ".join(map(str, knob.alternatives[:ALTERNATIVES]))
    return f"{knob.id}: {knob.in_force!r} (usual: {usual or 'none'})"


def _patch(proposal: Proposal, knobs: dict[str, Knob], bench: SearchContext) -> Patch:
    """What of a proposal can be made."""
    known = [(knobs[turn.knob], turn.value) for turn in proposal.turns if turn.knob in knobs]
    changes = [change_for(knob, value) for knob, value in known if value != knob.in_force]
    return fitting(list(dict.fromkeys(changes)), bench.applies)
