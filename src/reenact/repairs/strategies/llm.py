"""llm: changes that a language model proposes, each trained and measured; nothing it says is
believed.

The study's second listing asked for a configuration without showing the faulty one. Here the model
sees the program, the values in force and the findings of the diagnosis, answers in hyperparameters
and values, several times; what names no hyperparameter of the program is dropped.
"""

from contextlib import suppress

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.diagnosis.llm_detector import numbered
from reenact.errors import AnswerUnusable, MissingPart
from reenact.llm.ask import Prompt
from reenact.llm.prompts import load_prompt
from reenact.program.hyperparameter import Hyperparameter
from reenact.program.patch import Patch, change_for
from reenact.repairs.search_context import SearchContext
from reenact.repairs.space import fitting
from reenact.repairs.strategies.strategy import Scoreboard, once

ALTERNATIVES = 6
"""Usual values of a hyperparameter that are shown."""


class Turn(BaseModel):
    """One hyperparameter and its new value."""

    knob: str = Field(description="Name of the knob, exactly as in the list.")
    value: float | int | str | bool | None = Field(description="Its new value.")
    reason: str = Field(default="", description="Why, in a few words.")


class Proposal(BaseModel):
    """One change, made of all turns together."""

    turns: list[Turn] = Field(max_length=20)


class Llm:
    """Asks the model that `--model` names."""

    name = "llm"

    def search(self, context: SearchContext) -> list[Patch]:
        """See `Strategy.search`."""
        if context.model is None or context.questions is None:
            raise MissingPart("The strategy llm needs a model.", next_step="Name one with --model.")
        base = context.base()
        params = {str(param.id): param for param in context.hyperparameters}
        prompt = _prompt(context, base)
        scope = context.questions
        model = context.model
        heat = context.options.temperature
        proposals = []
        for sample in range(context.options.samples):
            with suppress(AnswerUnusable):
                answer = ask(
                    scope,
                    model,
                    "proposal",
                    prompt,
                    Proposal,
                    sample=sample,
                    temperature=heat,
                )
                proposals.append(answer)
        patches = once([_patch(one, params, context) for one in proposals])
        board = Scoreboard(patches)
        for patch in patches:
            if patch and context.within_budget(context.cost(patch)):
                board.add([patch], context.scores([patch]))
        return [patch for patch, score in board if context.better(base, score)]


def _prompt(context: SearchContext, base: float) -> Prompt:
    value = base if context.trainer.measure.larger_is_better else -base
    params = context.hyperparameters
    usual = [", ".join(map(str, one.alternatives[:ALTERNATIVES])) or "none" for one in params]
    knobs = [
        f"{one.id}: {one.in_force!r} (usual: {text})"
        for one, text in zip(params, usual, strict=True)
    ]
    finds = "\n".join(f"{one.first.code} {one.first.saw}" for one in context.suspects) or "nothing"
    values = {
        "task": context.evidence.task.value,
        "metric": context.trainer.measure.name,
        "accused": finds,
        "base": f"{value:.4g}",
        "knobs": "\n".join(knobs),
        "program": numbered(context.program),
    }
    return load_prompt("reenact.repairs.strategies", "prompts/proposal.md").fill(**values)


def _patch(
    proposal: Proposal,
    params: dict[str, Hyperparameter],
    context: SearchContext,
) -> Patch:
    """What of a proposal can be made."""
    known = [(params[turn.knob], turn.value) for turn in proposal.turns if turn.knob in params]
    changes = [change_for(param, value) for param, value in known if value != param.in_force]
    return fitting(list(dict.fromkeys(changes)), context.applies)


STRATEGY = Llm
